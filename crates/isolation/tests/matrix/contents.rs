//! What files may be: names, kinds, modes, line ends, filters.

use crate::round::{Wave, round};
use crate::user::User;

#[test]
fn names_that_hurt() {
    let names = "mk() { printf '%s' \"$1\" > \"./$1\"; }
        for n in 'with space' \"quote'\" 'dq\"' 'back\\slash' $'new\\nline' $'tab\\t' $'non\\xffutf8' '-dash' '--' '*' '?' '[a]' \
            ':(top)x' '日本語.txt' 'a~b' '~' 'x~HEAD' '#hash' '!bang' 'trailing ' '$HOME' '%41' 'é' $'e\\xcc\\x81'; do ";
    let user = User::new(&format!(
        "{names} mk \"$n\"; done; git add -A; git commit -qm names; {names} echo x >> \"./$n\"; done"
    ));
    round(
        &user,
        &[&format!("{names} echo z >> \"./$n\"; done"), "mkdir -p 'ディレクトリ'; echo n > 'ディレクトリ/新しい'"],
    );
    round(&user, &[&format!("{names} rm \"./$n\"; done")]);
    let user = User::new("");
    round(&user, &[&format!("{names} mk \"$n\"; done"), "echo x >> a.txt"]);
}

#[test]
fn files_folders_and_links_take_each_others_place() {
    let user =
        User::new("ln -s a.txt link; mkdir dir; echo x > dir/x; ln -s d dirlink; git add -A; git commit -qm links");
    let changes = [
        "rm a.txt; mkdir a.txt; echo in > a.txt/in; rm b.txt; ln -s lines.txt b.txt; rm -r dir; echo file > dir",
        "rm link; echo file > link; rm dirlink; mkdir dirlink; echo x > dirlink/x; rm -r d; ln -s dir d",
    ];
    round(&user, &changes);
    // The user did the same kind of things, uncommitted.
    let user = User::new(
        "rm a.txt; mkdir a.txt; echo in > a.txt/in; rm b.txt; ln -s lines.txt b.txt; rm -r d; ln -s build d
        mkdir build; echo c > build/c.txt",
    );
    round(&user, &["rm -r a.txt; echo back > a.txt; rm b.txt; echo file > b.txt", "rm d; mkdir d; echo c > d/c.txt"]);
}

#[test]
fn links_that_dangle_or_lead_out_of_the_tree() {
    let setup = "ln -s /etc/passwd out; ln -s nowhere dangling; ln -s .. up; echo mine > ../outside; ln -s ../outside o
        git add -A; git commit -qm links; ln -s ../outside untracked";
    let user = User::new(setup);
    round(
        &user,
        &["rm out; ln -s /etc/group out; rm o; echo file > o", "rm dangling up untracked; ln -s ../outside n"],
    );
    assert_eq!(user.env.read("outside"), "mine\n");
}

#[test]
fn modes_are_kept_but_for_what_a_task_changed() {
    let setup =
        "chmod 600 a.txt; chmod 700 run.sh; chmod 640 lines.txt; echo u > u.txt; chmod 600 u.txt; chmod 664 b.txt";
    let user = User::new(setup);
    round(&user, &["echo z >> a.txt; echo z >> run.sh; echo z >> b.txt", "echo z >> u.txt; echo z >> lines.txt"]);
    let mut wave = Wave::start(&user);
    wave.task("chmod +x a.txt; chmod -x run.sh");
    let integration = wave.merge();
    assert_eq!(user.sh("stat -c %a a.txt run.sh"), "700\n600\n");
    wave.undo(&integration);
    wave.before.assert_same(&user.state(), &[b"a.txt".to_vec(), b"run.sh".to_vec()], "after the undo");
    let user = User::new("git config core.fileMode false; chmod +x a.txt; chmod -x run.sh");
    let mut wave = Wave::start(&user);
    wave.task("echo z >> a.txt; echo z >> run.sh");
    wave.finish("echo z >> a.txt; echo z >> run.sh");
}

#[test]
fn renames_deletions_and_binary_files() {
    let user =
        User::new("head -c 100000 /dev/urandom > bin; head -c 3000000 /dev/zero > zero; git add -A; git commit -qm b");
    round(
        &user,
        &[
            "git mv lines.txt moved.txt 2>/dev/null || mv lines.txt moved.txt; head -c 9 /dev/zero > bin; rm zero",
            "mkdir new; mv d/e/f.txt new/f.txt; rmdir d/e; printf 'no line end' > d/c.txt; : > b.txt",
        ],
    );
}

#[test]
fn line_ends_are_as_a_checkout_writes_them() {
    let crlf = "git config core.autocrlf true; printf 'a\\r\\nb\\r\\n' > a.txt; printf 'l\\r\\n' > u.txt; git add a.txt 2>/dev/null; git commit -qm crlf
        git ls-files -z | xargs -0 rm; git checkout -q .; printf 'l\\r\\n' > u.txt";
    let user = User::new(&format!("{crlf}; printf 'c\\r\\n' >> a.txt"));
    round(&user, &["printf 'd\\r\\n' >> a.txt; printf 'n\\r\\n' > n.txt", "printf 'x\\r\\n' > b.txt"]);
    // A task writes line feeds: they become what a checkout would write.
    let mut wave = Wave::start(&user);
    wave.task("printf 'a\\nb\\n' > a.txt; printf 'n\\n' > n.txt");
    wave.finish("printf 'a\\r\\nb\\r\\n' > a.txt; printf 'n\\r\\n' > n.txt");
    // A rule and a file that it is about, in one task.
    let user = User::new("");
    let mut wave = Wave::start(&user);
    wave.task("echo '*.bat text eol=crlf' > .gitattributes; echo x > x.bat; echo y > '!y.bat'");
    wave.finish("echo '*.bat text eol=crlf' > .gitattributes; printf 'x\\r\\n' > x.bat; printf 'y\\r\\n' > '!y.bat'");
    let user = User::new("git config core.autocrlf true; git config core.safecrlf true; printf 'x\\n' > lf.txt");
    let mut wave = Wave::start(&user);
    wave.task("printf 'm\\r\\nn\\n' > mixed.txt");
    wave.task("printf 'z\\n' >> a.txt");
    wave.merge();
    assert_eq!(user.sh("cat lf.txt"), "x\n");
}

/// A clean filter that leaves pointers in git, and a smudge filter that brings the content back, as LFS does.
const FILTER: &str = r#"
cat > ../clean <<'END'
#!/bin/sh
cat > "$0.$$"
case $(head -c 8 "$0.$$") in
pointer*) cat "$0.$$" ;;
*) h=$(sha1sum < "$0.$$" | cut -c1-40); cp "$0.$$" "$0-$h"; echo pointer $h ;;
esac
rm "$0.$$"
END
cat > ../smudge <<'END'
#!/bin/sh
read p h
if [ -f "${0%smudge}clean-$h" ]; then cat "${0%smudge}clean-$h"; else echo $p $h; fi
END
chmod +x ../clean ../smudge
git config filter.big.clean "$PWD/../clean"; git config filter.big.smudge "$PWD/../smudge"
git config filter.big.required true
echo '*.big filter=big' > .gitattributes; echo large > x.big; echo large too > y.big; git add -A; git commit -qm big"#;

#[test]
fn filters_of_the_users_run_as_in_any_checkout() {
    let user = User::new(&format!("{FILTER}; echo larger > y.big; echo untracked > u.big"));
    assert!(user.sh("git show HEAD:x.big").starts_with("pointer "));
    round(&user, &["echo z >> a.txt; echo other > x.big", "echo n > n.big; rm u.big"]);
    // A pointer, as from a tree without the content, becomes what a checkout makes of it.
    let mut wave = Wave::start(&user);
    wave.task("git show HEAD:x.big > copy.big");
    wave.finish("cp x.big copy.big");
}

#[test]
fn a_required_filter_that_is_not_installed_is_named() {
    let setup = "git config filter.secret.clean no-such-program; git config filter.secret.required true
        echo '*.s filter=secret' > .gitattributes; git add -A; git commit -qm f; echo x > my.s";
    let user = User::new(setup);
    let before = user.state();
    let error = user.repo().snapshot("s", "w", &user.planex("scratch")).unwrap_err().to_string();
    assert!(error.contains("my.s") && error.contains("secret"), "{error}");
    before.assert_same(&user.state(), &[], "after the error");
}
