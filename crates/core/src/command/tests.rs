use proptest::prelude::*;

use super::Directives;

/// What is on the search path of a usual machine, and some files of a project.
fn is_program(word: &str) -> bool {
    const THERE: &str = "bash bun cargo cat curl diff docker dotnet echo env file find gh git go grep jq ls make mvn node \
        npm npx pnpm pytest python python3 rg rspec ruff sed sh sort test time tsc uv vitest wc which yarn ./gradlew \
        ./scripts/check.sh scripts/check.sh check.sh";
    THERE.split_ascii_whitespace().any(|known| known == word)
}

fn read(text: &str) -> Directives {
    Directives::read(text, is_program)
}

/// Each line is a command, exactly as it is written.
fn all_commands(lines: &[&str]) {
    for line in lines {
        assert_eq!(read(line), Directives { commands: vec![(*line).to_owned()], advice: vec![] }, "{line}");
    }
}

fn all_advice(lines: &[&str]) {
    for line in lines {
        assert_eq!(read(line), Directives { commands: vec![], advice: vec![(*line).to_owned()] }, "{line}");
    }
}

#[test]
fn the_examples_of_the_specification() {
    assert_eq!(read("test -f x").commands, ["test -f x"]);
    assert_eq!(read("make sure tests pass").advice, ["make sure tests pass"]);
}

#[test]
fn unmarked_commands_are_kept_as_they_are() {
    all_commands(&[
        "npm test --bail",
        "cargo test -p planex-core command",
        "CI=true RUST_LOG='a b' cargo test",
        "./gradlew :app:test --tests '*Login*'",
        "scripts/check.sh",
        "ruff check .",
        "go test ./...",
        "go build ./... && go vet ./...",
        "cargo test parser::",
        "cd web && npm test",
        "(cd web && npm test)",
        "python3 -c 'print(1 << 2)'",
        "test $(git ls-files | wc -l) -gt 3",
        "[ -f dist/index.js ]",
        "! grep -rn 'console.log' src/",
        "npm run lint; npm test",
        "grep -c 'var(--' styles.css | xargs -I {} test {} -ge 6",
        "cargo test # all of the tests",
        "grep -q 'the answer is all that should' README.md",
        "grep -q \"見出し\" README.md",
        "git diff --exit-code HEAD -- .",
        "pytest tests/test_a.py::TestA::test_b -k 'a or b'",
        "npx vitest run --reporter=dot 2>&1",
        "mvn -q verify",
        "curl -fsS http://localhost:3000/health",
        "  npm  test   --  --x  ".trim(),
    ]);
}

#[test]
fn marks_and_bullets_are_not_part_of_a_command() {
    for (line, command) in [
        ("$ npm test", "npm test"),
        ("- $ npm test", "npm test"),
        ("`npm test`", "npm test"),
        ("- `npm test`", "npm test"),
        ("* `npm test`.", "npm test"),
        ("1. npm test", "npm test"),
        ("2) `npm test`", "npm test"),
        ("- [ ] npm test", "npm test"),
        ("- [x] `npm test`", "npm test"),
        ("`$ npm test`", "npm test"),
        ("$ `npm test`", "npm test"),
        ("```npm test```", "npm test"),
        ("`` echo `date` ``", "echo `date`"),
        ("`unknown-tool --all the things.`", "unknown-tool --all the things."),
        ("$ unknown-tool すべて:", "unknown-tool すべて:"),
        ("`true; false`", "true; false"),
    ] {
        assert_eq!(read(line), Directives { commands: vec![command.into()], advice: vec![] }, "{line}");
    }
}

#[test]
fn sentences_are_advice() {
    all_advice(&[
        "make sure tests pass",
        "test that the API returns 200",
        "find all usages of `parse`",
        "npm test must pass",
        "npm test passes",
        "cargo test doesn't fail",
        "cargo test doesn't fail when it's run",
        "npm test.",
        "npm test:",
        "make a release",
        "git commit is not allowed",
        "sort entries. Then write them",
        "npm test (all suites)",
        "npm test が通ること",
        "npm test 全部通过",
        "pytest、ruff",
        "Run `cargo test` before you report",
        "`cargo test` and `cargo clippy`",
        "make `cargo test` green",
        "Do not use the network",
        "unknown-tool --check",
        "Run full test suite and confirm no regressions",
        "VAR=value",
        // A file of the project, and what should become of it.
        "scripts/check.sh exists in the image",
        "scripts/check.sh deleted: verify by ls scripts",
        // The rest of it stands on other lines.
        "python - <<'PY'",
        "# Verification",
        "-",
        "$",
        "``",
        "echo 'no end",
        "echo(1)",
        "日本語だけの行",
    ]);
}

#[test]
fn a_text_of_several_entries() {
    let text =
        "Only touch src/.\r\n\r\n- npm test --bail\n- `npm run lint`\n```bash\nnpm run build\n# first time only\n```\n";
    let read = read(text);
    assert_eq!(read.commands, ["npm test --bail", "npm run lint", "npm run build"]);
    assert_eq!(read.advice, ["Only touch src/.", "# first time only"]);
    assert_eq!(Directives::read("", is_program), Directives::default());
    let listed = Directives::read_all(&["npm test", "All tests pass"], is_program);
    assert_eq!((listed.commands, listed.advice), (vec!["npm test".into()], vec!["All tests pass".into()]));
}

/// Lines of real plans (`verification` and `test.commands` of tasks in the wild).
#[test]
fn real_plans() {
    all_commands(&[
        "cd xhmonitor-web && npm run build",
        "dotnet build XhMonitor.Core/XhMonitor.Core.csproj",
        "dotnet test --filter FullyQualifiedName~FloatingWindowTests",
        "dotnet ef migrations add UpdateSeedDataToUseDefaults --project XhMonitor.Service",
        "python scripts/delivery_gate.py && python scripts/release_check_summary.py",
        "grep -E 'var\\(--' packages/ccc-state-controller/panel/index.js | wc -l >= 10",
        "ls tests/**/*.test.ts 2>/dev/null | wc -l >= 1 && npm test --passWithNoTests",
        "grep -c '#[0-9a-fA-F]\\{3,6\\}' panel/index.js | xargs -I {} sh -c 'test {} -le 2 && echo PASS || echo FAIL'",
    ]);
    all_advice(&[
        "Application starts successfully with valid config",
        "_processManager is not null after initialization",
        "Build project successfully",
        "All MetricProviderRegistry tests pass",
        "Code review: Confirm synchronous wait pattern used",
        "Verify dotnet build succeeds",
        "Run unit tests and confirm 100% pass rate",
        "Search for 'Debug.WriteLine' in SettingsViewModel.cs catch blocks (should find 0)",
        "Load test: 100 concurrent calls, no thread pool exhaustion",
        "No synchronous blocking (.Result, .Wait())",
        "Unit test: X returns Y",
        "npm.cmd --prefix src-ts run typecheck",
        "bash(ls -la public/ 2>/dev/null)",
        "Read(routes/admin.js | head -80)",
    ]);
}

#[test]
fn what_people_cannot_see_is_never_run() {
    all_advice(&[
        "`npm test\u{202e}txet`",
        "$ npm test\u{200b} --all",
        "npm\u{7} test",
        "npm test \u{1b}[8m&& rm -r x",
    ]);
}

proptest! {
    #[test]
    fn nothing_is_lost(text in "([-*1. $`'\"a-cmakenpt=#\\\\;&|(){}\u{3042}\u{202e}\t]{0,12}(\r\n|\n)?){0,8}") {
        let read = read(&text);
        let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let kept: Vec<&&str> = lines.iter().filter(|line| !super::is_fence(line)).collect();
        prop_assert_eq!(read.commands.len() + read.advice.len(), kept.len());
        let mut commands = read.commands.iter().peekable();
        let mut advice = read.advice.iter().peekable();
        for line in kept {
            if advice.peek().is_some_and(|next| next.as_str() == *line) {
                advice.next();
            } else {
                let command = commands.next();
                prop_assert!(command.is_some_and(|command| line.contains(command.as_str())), "{line}");
            }
        }
    }

    #[test]
    fn a_marked_line_is_run_as_written(command in "[a-zA-Z0-9 |&;<>'\"$./*-]{0,30}[a-z]") {
        let command = command.trim();
        prop_assert_eq!(read(&format!("`{command}`")).commands, [command.strip_prefix("$ ").map_or(command, str::trim)]);
    }

    #[test]
    fn any_text_is_read(text in any::<String>()) {
        let read = read(&text);
        prop_assert!(read.commands.iter().all(|command| !command.is_empty() && !command.contains('\n')));
    }
}
