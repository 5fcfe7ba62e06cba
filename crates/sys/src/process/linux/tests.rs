//! Jobs on the real system. This program is its own guardian (see `raw::BECOME_GUARDIAN`).

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::time::Duration;

use planex_core::job::Exit;
use tokio::io::AsyncReadExt as _;

use super::super::{ChildSpec, Clean, Reader, Stdin};
use super::{Child, Guardian, end_leftovers, inside, is_inside_job, procfs};

fn sh(script: &str) -> ChildSpec {
    ChildSpec {
        argv: ["sh", "-c", script].map(str::to_owned).to_vec(),
        env: BTreeMap::from([("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned())]),
        cwd: "/".into(),
        stdin: Stdin::Null,
        hard_limit: None,
        grace: Duration::from_millis(300),
        label: "test".to_owned(),
    }
}

async fn text(reader: &mut Reader) -> String {
    let mut bytes = Vec::new();
    reader.read_to_end(&mut bytes).await.unwrap();
    String::from_utf8(bytes).unwrap()
}

/// The first line that the child prints.
async fn line(child: &mut Child) -> String {
    let mut line = Vec::new();
    loop {
        match child.stdout.read_u8().await {
            Ok(b'\n') | Err(_) => return String::from_utf8(line).unwrap(),
            Ok(byte) => line.push(byte),
        }
    }
}

async fn run(guardian: &Guardian, spec: ChildSpec) -> (Exit, String) {
    let mut child = guardian.spawn(spec).await.unwrap();
    let output = text(&mut child.stdout).await;
    let exit = child.wait().await.exit;
    assert_eq!(child.clean().await, Clean::None);
    (exit, output)
}

#[tokio::test]
async fn status_streams_environment_and_folder_are_exact() {
    let guardian = Guardian::start(None).unwrap();
    for (script, exit) in
        [("exit 0", Exit::Code(0)), ("exit 3", Exit::Code(3)), ("exit 255", Exit::Code(255))].into_iter().chain([
            ("kill -9 $$", Exit::Signal(9)),
            ("kill -15 $$", Exit::Signal(15)),
            ("kill -11 $$", Exit::Signal(11)),
            ("kill -13 $$", Exit::Signal(13)),
        ])
    {
        assert_eq!(run(&guardian, sh(script)).await, (exit, String::new()), "{script}");
    }
    let mut spec = sh("cat; pwd; echo \"$X\"; env | wc -l; echo problem >&2");
    spec.env.insert("X".to_owned(), "a b\nc".to_owned());
    spec.stdin = Stdin::Bytes(b"in ".to_vec());
    spec.cwd = "/usr".into();
    let mut child = guardian.spawn(spec).await.unwrap();
    let out = text(&mut child.stdout).await;
    assert!(out.starts_with("in /usr\na b\nc\n"), "{out}");
    assert_eq!(text(&mut child.stderr).await, "problem\n");
    assert_eq!(child.wait().await.exit, Exit::Code(0));
    assert_eq!(child.clean().await, Clean::None);
}

#[tokio::test]
async fn what_cannot_be_started_says_why() {
    let guardian = Guardian::start(None).unwrap();
    let fail = async |spec: ChildSpec| guardian.spawn(spec).await.unwrap_err();
    let argv = |words: &[&str]| ChildSpec { argv: words.iter().map(|&w| w.to_owned()).collect(), ..sh("") };
    assert_eq!(fail(argv(&["planex-no-such-program"])).await.raw_os_error(), Some(libc::ENOENT));
    assert_eq!(fail(argv(&["/planex/none"])).await.raw_os_error(), Some(libc::ENOENT));
    assert_eq!(fail(argv(&["/"])).await.raw_os_error(), Some(libc::EACCES));
    assert_eq!(fail(argv(&["/etc/passwd"])).await.raw_os_error(), Some(libc::EACCES));
    let long = "x".repeat(3 << 20);
    assert_eq!(fail(argv(&["true", &long])).await.raw_os_error(), Some(libc::E2BIG));
    assert_eq!(fail(argv(&["true", "a\0b"])).await.kind(), ErrorKind::InvalidInput);
    assert_eq!(fail(argv(&[])).await.kind(), ErrorKind::InvalidInput);
    let error = fail(ChildSpec { cwd: "/planex/none".into(), ..sh("") }).await;
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(error.to_string().starts_with("the working folder /planex/none cannot be used"), "{error}");
    let error = fail(ChildSpec { stdin: Stdin::File("/planex/in".into()), ..sh("") }).await;
    assert!(error.to_string().starts_with("/planex/in: "), "{error}");
}

#[tokio::test]
async fn input_larger_than_a_pipe_is_read_or_not() {
    let guardian = Guardian::start(None).unwrap();
    let spec = |script: &str| ChildSpec { stdin: Stdin::Bytes(vec![b'x'; 1 << 20]), ..sh(script) };
    assert_eq!(run(&guardian, spec("wc -c")).await, (Exit::Code(0), "1048576\n".to_owned()));
    assert_eq!(run(&guardian, spec("echo unread")).await, (Exit::Code(0), "unread\n".to_owned()));
    assert_eq!(run(&guardian, spec("exec 0<&-; sleep 0.1; echo closed")).await.1, "closed\n");
    let file = ChildSpec { stdin: Stdin::File("/proc/version".into()), ..sh("cat") };
    assert!(run(&guardian, file).await.1.starts_with("Linux"));
}

#[tokio::test]
async fn the_hard_limit_is_the_keepers_own() {
    let guardian = Guardian::start(None).unwrap();
    let limit = Some(Duration::from_millis(150));
    let mut child = guardian.spawn(ChildSpec { hard_limit: limit, ..sh("sleep 600") }).await.unwrap();
    let ended = child.wait().await;
    assert_eq!((ended.exit, ended.limit), (Exit::Signal(15), true));
    assert_eq!(child.clean().await, Clean::None);
    // A job that ignores the request is killed after the grace period.
    let stubborn = ChildSpec { hard_limit: limit, ..sh("trap '' TERM; while :; do sleep 0.05; done") };
    let mut child = guardian.spawn(stubborn).await.unwrap();
    assert_eq!(child.wait().await.exit, Exit::Signal(9));
    assert_eq!(child.clean().await, Clean::None);
}

#[tokio::test]
async fn the_agent_alone_gets_a_signal_and_all_get_the_end() {
    let guardian = Guardian::start(None).unwrap();
    let script = "sleep 600 & trap 'echo int; exit 7' INT; echo ready; wait";
    let mut child = guardian.spawn(sh(script)).await.unwrap();
    assert_eq!(line(&mut child).await, "ready");
    // Between its fork and its exec the tool still has the shell's name.
    let seen = loop {
        let seen = child.descendants();
        if seen.iter().all(|process| process.command == "sleep 600") {
            break seen;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    };
    assert_eq!(seen.len(), 1, "{seen:?}");
    child.signal(libc::SIGINT);
    assert_eq!(line(&mut child).await, "int");
    assert_eq!(child.wait().await.exit, Exit::Code(7));
    assert_eq!(child.clean().await, Clean::None);
    assert!(procfs::stat(seen[0].pid).is_none_or(|now| now.start != seen[0].start), "what it left is ended");
    // Orders after the end reach nobody.
    child.signal(9);
    child.terminate();
    child.kill();
}

#[tokio::test]
async fn tools_that_work_are_seen_by_their_processor_time() {
    let guardian = Guardian::start(None).unwrap();
    let busy = "sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done'; echo done; sleep 600";
    let mut child = guardian.spawn(sh(busy)).await.unwrap();
    assert_eq!(line(&mut child).await, "done");
    let used = child.tool_ticks();
    assert!(used > 0, "the loop of a tool that has ended counts");
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(child.tool_ticks(), used, "a sleep does not");
    child.kill();
    assert_eq!(child.clean().await, Clean::None);
}

#[tokio::test]
async fn piped_input_and_waiting_in_pieces() {
    use tokio::io::AsyncWriteExt as _;
    let guardian = Guardian::start(None).unwrap();
    let mut child =
        guardian.spawn(ChildSpec { stdin: Stdin::Piped, ..sh("read x; echo \"<$x>\"; cat >&2") }).await.unwrap();
    assert!(tokio::time::timeout(Duration::from_millis(30), child.wait()).await.is_err());
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"hello\nrest").await.unwrap();
    assert_eq!(line(&mut child).await, "<hello>");
    assert!(tokio::time::timeout(Duration::from_millis(30), child.clean()).await.is_err());
    drop(stdin);
    assert_eq!(text(&mut child.stderr).await, "rest");
    assert_eq!(child.wait().await.exit, Exit::Code(0));
    assert_eq!(child.clean().await, Clean::None);
}

#[tokio::test]
async fn a_killed_guardian_is_replaced_and_its_jobs_go_on() {
    let guardian = Guardian::start(None).unwrap();
    let mut old = guardian.spawn(ChildSpec { stdin: Stdin::Piped, ..sh("read x; echo \"late $x\"") }).await.unwrap();
    let first = guardian.pid();
    let id = procfs::stat(first).unwrap().id();
    procfs::send(id, libc::SIGKILL).unwrap();
    while procfs::stat(first).is_some_and(|now| now.id() == id && !now.zombie) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(run(&guardian, sh("echo new")).await, (Exit::Code(0), "new\n".to_owned()));
    assert_ne!(guardian.pid(), first);
    tokio::io::AsyncWriteExt::write_all(old.stdin.as_mut().unwrap(), b"x\n").await.unwrap();
    assert_eq!(line(&mut old).await, "late x");
    assert_eq!(old.wait().await.exit, Exit::Code(0));
    assert_eq!(old.clean().await, Clean::None);
}

#[tokio::test]
async fn idents_survive_json_and_strangers_are_passed_over() {
    let guardian = Guardian::start(None).unwrap();
    let mut spec = sh("sleep 600");
    spec.env.insert("PLANEX_RESULT_FILE".to_owned(), format!("/tmp/{}/r.json", std::process::id()));
    let mut child = guardian.spawn(spec).await.unwrap();
    let text = serde_json::to_string(&child.ident).unwrap();
    assert_eq!(serde_json::from_str::<super::super::Ident>(&text).unwrap(), child.ident);
    assert!(child.ident.mark.as_deref().unwrap().starts_with("PLANEX_RESULT_FILE=/tmp/"));
    let mut other = child.ident.clone();
    other.boot_id = "another start".to_owned();
    let mut inner = child.ident.clone();
    inner.pid_ns += 1;
    assert_eq!(end_leftovers(&[other, inner]), []);
    assert!(tokio::time::timeout(Duration::from_millis(30), child.wait()).await.is_err(), "it lives");
    child.kill();
    assert_eq!(child.wait().await.exit, Exit::Signal(9));
    assert_eq!(child.clean().await, Clean::None);
}

#[test]
fn a_program_that_is_no_guardian_is_refused() {
    let error = Guardian::start(Some("/bin/true".into())).unwrap_err();
    assert_eq!(error.to_string(), "/bin/true did not start as the guardian of jobs");
    assert_eq!(Guardian::start(Some("/planex/none".into())).unwrap_err().kind(), ErrorKind::NotFound);
}

#[tokio::test]
async fn what_belongs_to_a_job_is_known_by_its_ancestors() {
    let guardian = Guardian::start(None).unwrap();
    // Without its environment, in a session of its own, and without its first parent.
    let script = "echo $$; env -i setsid sh -c 'sh -c \"echo \\$\\$; read x\" <&9 & exit' 9<&0 & wait; read x";
    let mut child = guardian.spawn(ChildSpec { stdin: Stdin::Piped, ..sh(script) }).await.unwrap();
    for what in ["the agent", "a daemon of its"] {
        let pid = line(&mut child).await.parse().unwrap();
        assert!(inside::is_below_keeper(pid), "{what}");
    }
    assert!(!is_inside_job() && !inside::is_below_keeper(guardian.pid()));
    child.kill();
    child.wait().await;
    assert_eq!(child.clean().await, Clean::None);
}
