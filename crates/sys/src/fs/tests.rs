//! Tests of the whole door: real files, real links, a real small disk.

use std::io;

use super::*;

fn folder() -> (tempfile::TempDir, Utf8PathBuf) {
    let temp = tempfile::tempdir().unwrap();
    let path = Utf8PathBuf::from_path_buf(temp.path().to_owned()).unwrap();
    (temp, path)
}

fn names(path: &Utf8Path) -> Vec<String> {
    list(path).unwrap().into_iter().map(|entry| entry.name).collect()
}

#[test]
fn errors_name_what_was_tried_and_where() {
    let (_temp, root) = folder();
    let missing = root.join("a/b");
    let error = read(&missing).unwrap_err();
    assert!(error.to_string().starts_with(&format!("failed to read {missing}: ")), "{error}");
    assert!(error.is_not_found());
    assert!(std::error::Error::source(&error).is_none(), "the system's words are printed once");
    assert_eq!(read_if_exists(&missing).unwrap(), None);

    std::fs::write(root.join("x"), b"ok\nab\xff").unwrap();
    let error = read_to_string(&root.join("x")).unwrap_err();
    assert!(error.to_string().ends_with("invalid UTF-8 at byte 5 (line 2)"), "{error}");
    assert_eq!(error.kind(), io::ErrorKind::InvalidData);
}

#[test]
fn head_and_tail_are_bounded() {
    let (_temp, root) = folder();
    let path = root.join("f");
    write_atomic(&path, b"0123456789").unwrap();
    assert_eq!(read_head(&path, 3).unwrap(), b"012");
    assert_eq!(read_tail(&path, 3).unwrap(), b"789");
    assert_eq!(read_tail(&path, 99).unwrap(), b"0123456789");
}

#[test]
fn what_is_absent_is_removed_already() {
    let (_temp, root) = folder();
    remove_file(&root.join("x")).unwrap();
    remove_dir_all(&root.join("x")).unwrap();
    assert!(remove_file(&root.join("\0")).is_err());
    create_dir_all(&root.join("a/b")).unwrap();
    create_dir_all(&root.join("a/b")).unwrap();
    assert!(create_dir_new(&root.join("n")).unwrap());
    assert!(!create_dir_new(&root.join("n")).unwrap());
    write_atomic(&root.join("a/b/f"), b"12345").unwrap();
    write_atomic(&root.join("a/g"), b"123").unwrap();
    assert_eq!(dir_size(&root), 8);
    assert_eq!(dir_size(&root.join("nowhere")), 0);
    rename(&root.join("a/g"), &root.join("a/h")).unwrap();
    assert_eq!(names(&root.join("a")), ["b", "h"]);
    remove_dir_all(&root.join("a")).unwrap();
    assert!(!exists(&root.join("a")));
}

#[test]
fn a_file_is_replaced_whole() {
    let (_temp, root) = folder();
    let path = root.join("f");
    for content in [&b"old"[..], b"", &[7; 100_000]] {
        write_atomic(&path, content).unwrap();
        assert_eq!(read(&path).unwrap(), content);
    }
    write_atomic_nosync(&path, b"new").unwrap();
    assert_eq!(read_to_string(&path).unwrap(), "new");
    assert_eq!(names(&root), ["f"]);
    for target in [root.clone(), "/".into(), root.join("none/f")] {
        assert!(write_atomic(&target, b"x").is_err(), "{target}");
    }
    assert_eq!(names(&root), ["f"]);
}

#[test]
fn leftovers_of_killed_writers_are_known() {
    let (_temp, root) = folder();
    for name in [".planex-write-abc.tmp", ".planex-write-", "mine.tmp", ".planex-write-x"] {
        std::fs::write(root.join(name), "").unwrap();
    }
    assert_eq!(remove_temporaries(&root).unwrap(), 1);
    assert_eq!(names(&root), [".planex-write-", ".planex-write-x", "mine.tmp"]);
}

#[test]
fn lines_are_appended_whole_after_a_torn_one() {
    let (_temp, root) = folder();
    let path = root.join("log");
    append_line(&path, "a").unwrap();
    append_line(&path, "").unwrap();
    std::fs::write(&path, "a\n{\"torn").unwrap();
    append_line(&path, "b").unwrap();
    append_line(&path, "c").unwrap();
    assert_eq!(read_to_string(&path).unwrap(), "a\n{\"torn\nb\nc\n");
    assert!(append_line(&path, "two\nlines").is_err());
    assert!(append_line(&root, "x").is_err());
}

#[test]
fn a_log_gathers_until_it_is_synced() {
    let (_temp, root) = folder();
    let path = root.join("log");
    std::fs::write(&path, "torn").unwrap();
    let mut log = AppendLog::open(&path).unwrap();
    log.append("one").unwrap();
    log.append("two").unwrap();
    assert!(log.append("x\ny").is_err());
    assert_eq!(read_to_string(&path).unwrap(), "torn");
    log.sync().unwrap();
    log.sync().unwrap();
    assert_eq!(read_to_string(&path).unwrap(), "torn\none\ntwo\n");
    log.append(&"x".repeat(70_000)).unwrap();
    assert_eq!(metadata(&path).unwrap().len(), 13 + 70_001, "a full buffer goes by itself");
    log.append("last").unwrap();
    drop(log);
    assert!(read_to_string(&path).unwrap().ends_with("x\nlast\n"));
}

#[test]
fn small_output_is_kept_as_it_is() {
    let (_temp, root) = folder();
    let path = root.join("out");
    let mut log = CappedLog::create(&path, 4096).unwrap();
    for part in [&b"a\xff\0"[..], &[b'b'; 4093]] {
        log.write(part).unwrap();
    }
    assert_eq!(log.finish().unwrap(), CappedSummary { total: 4096, left_out: 0 });
    let bytes = read(&path).unwrap();
    assert_eq!((bytes.len(), &bytes[..3]), (4096, &b"a\xff\0"[..]), "nothing lost, nothing added up to the cap");
    assert_eq!(names(&root), ["out"]);
}

#[test]
fn large_output_keeps_head_and_tail() {
    for chunk in [1, 7, 1000, 9999] {
        let (_temp, root) = folder();
        let path = root.join("out");
        let all: Vec<u8> = (0..60_000_u32).flat_map(|n| [b'a' + u8::try_from(n % 26).unwrap()]).collect();
        let mut log = CappedLog::create(&path, 4096).unwrap();
        for part in all.chunks(chunk) {
            log.write(part).unwrap();
            assert!(dir_size(&root) <= 4096);
        }
        let summary = log.finish().unwrap();
        let bytes = read(&path).unwrap();
        let said = format!("\n[planex: {} bytes of output are left out here, the log is capped]\n", summary.left_out);
        assert!(bytes.starts_with(&all[..2048]));
        assert!(bytes[2048..].starts_with(said.as_bytes()));
        let tail = &bytes[2048 + said.len()..];
        assert!(all.ends_with(tail) && tail.len() >= 1024);
        assert_eq!(summary.left_out + 2048 + tail.len() as u64, all.len() as u64);
        assert_eq!(names(&root), ["out"]);
    }
}

#[test]
fn a_killed_writers_log_is_healed() {
    let (_temp, root) = folder();
    let path = root.join("out");
    let mut log = CappedLog::create(&path, 4096).unwrap();
    log.write(&[b'h'; 2048]).unwrap();
    log.write(&[b'm'; 1024]).unwrap();
    log.write(&[b't'; 1500]).unwrap();
    std::mem::forget(log);
    assert!(CappedLog::heal(&path).unwrap());
    assert!(!CappedLog::heal(&path).unwrap());
    let text = read_to_string(&path).unwrap();
    assert!(text.contains("h\n[planex: a part of the output is left out here") && text.ends_with('t'), "{text}");
    assert_eq!(names(&root), ["out"]);
    let log = CappedLog::create(&path, 0).unwrap();
    assert_eq!(log.finish().unwrap().total, 0);
    assert_eq!(metadata(&path).unwrap().len(), 0);
}

#[test]
fn names_from_outside_stay_inside() {
    let (_temp, root) = folder();
    create_dir_all(&root.join("sub/deep")).unwrap();
    for (name, want) in [("a", "a"), ("sub/new/x.md", "sub/new/x.md"), ("./sub//deep", "sub/deep"), ("a/./b", "a/b")] {
        assert_eq!(safe_join(&root, name).unwrap(), root.join(want), "{name}");
    }
    for name in ["", ".", "./.", "..", "../x", "a/../b", "sub/..", "/etc/passwd", "/", "a\0b", "sub/../../x"] {
        assert!(safe_join(&root, name).is_err(), "{name}");
    }
    assert!(matches!(safe_join(&root.join("none"), "x"), Err(JoinError::Root(_))));
}

#[cfg(unix)]
mod unix {
    use std::os::unix::ffi::OsStrExt as _;
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt, symlink};

    use super::*;

    #[test]
    fn links_that_lead_outside_are_refused() {
        let (_temp, root) = folder();
        let inside = root.join("project");
        create_dir_all(&inside.join("real")).unwrap();
        create_dir_all(&root.join("outside")).unwrap();
        let link = |target: &str, name: &str| symlink(target, inside.join(name)).unwrap();
        link("../outside", "out");
        link("/etc", "etc");
        link("real", "in");
        link("missing", "dangling");
        link("loop", "loop");
        symlink(&inside, root.join("project-link")).unwrap();

        assert_eq!(safe_join(&inside, "in/x").unwrap(), inside.join("in/x"));
        assert_eq!(safe_join(&root.join("project-link"), "in/x").unwrap(), root.join("project-link/in/x"));
        for name in ["out", "out/x", "etc/passwd", "dangling", "loop/x", "in/../../outside"] {
            assert!(safe_join(&inside, name).is_err(), "{name}");
        }
        let error = safe_join(&inside, "out/x").unwrap_err();
        assert!(error.to_string().ends_with(&format!("through the symbolic link {inside}/out")), "{error}");
    }

    #[test]
    fn mode_and_link_stay() {
        let (_temp, root) = folder();
        let (file, link, second) = (root.join("dir/file"), root.join("link"), root.join("dir/second"));
        create_dir_all(&root.join("dir")).unwrap();
        write_atomic(&file, b"1").unwrap();
        let umasked = metadata(&file).unwrap().mode() & 0o777;
        assert_eq!(umasked & !0o666, 0);
        assert_ne!(umasked & 0o600, 0);
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o750)).unwrap();
        symlink("second", root.join("dir/chain")).unwrap();
        symlink("dir/chain", &link).unwrap();

        write_atomic(&file, b"2").unwrap();
        assert_eq!(metadata(&file).unwrap().mode() & 0o777, 0o750);
        write_atomic(&link, b"3").unwrap();
        assert!(link.is_symlink());
        assert_eq!(read(&second).unwrap(), b"3", "a chain whose end is not there yet");
        write_atomic(&link, b"4").unwrap();
        assert_eq!(read(&second).unwrap(), b"4");

        symlink("loop", root.join("loop")).unwrap();
        assert!(write_atomic(&root.join("loop"), b"x").is_err());
        assert_eq!(names(&root.join("dir")), ["chain", "file", "second"]);
    }

    #[test]
    fn private_files_are_private_from_the_first_byte_on() {
        let (_temp, root) = folder();
        let path = root.join("secret");
        write_private(&path, b"x").unwrap();
        assert_eq!(metadata(&path).unwrap().mode() & 0o777, 0o600);
        let other = root.join("other");
        write_atomic(&other, b"x").unwrap();
        set_private(&other).unwrap();
        assert_eq!(metadata(&other).unwrap().mode() & 0o777, 0o600);
        set_private(&root).unwrap();
        assert_eq!(metadata(&root).unwrap().mode() & 0o777, 0o700);
    }

    #[test]
    fn entries_tell_their_kind() {
        let (_temp, root) = folder();
        create_dir_all(&root.join("d")).unwrap();
        write_atomic(&root.join("f"), b"").unwrap();
        symlink("d", root.join("l")).unwrap();
        rustix::fs::mknodat(
            rustix::fs::CWD,
            root.join("p").as_std_path(),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR,
            0,
        )
        .unwrap();
        std::fs::write(root.as_std_path().join(std::ffi::OsStr::from_bytes(b"\xff")), "").unwrap();
        let kinds: Vec<EntryKind> = list(&root).unwrap().into_iter().map(|entry| entry.kind).collect();
        assert_eq!(kinds, [EntryKind::Dir, EntryKind::File, EntryKind::Symlink, EntryKind::Other]);
    }
}

/// A project whose `.workflow` holds a session, and a folder outside of it.
#[cfg(unix)]
fn project_and_outside(root: &Utf8Path) -> (Utf8PathBuf, Utf8PathBuf) {
    let (session, outside) = (root.join("p/.workflow/.lite-plan/s"), root.join("outside"));
    std::fs::create_dir_all(session.join(".planex")).unwrap();
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("f"), "kept").unwrap();
    (session, outside)
}

#[cfg(unix)]
#[test]
fn nothing_is_written_through_links_that_lead_out_of_a_session() {
    use std::os::unix::fs::symlink;
    let (_temp, root) = folder();
    let (session, outside) = project_and_outside(&root);
    symlink(&outside, session.join(".planex/runs")).unwrap();
    symlink(&outside, session.join(".planex/gates")).unwrap();
    symlink("../../../../outside/new", session.join("discoveries.ndjson")).unwrap();
    symlink(outside.join("f"), session.join("tasks.csv")).unwrap();
    symlink("..", session.join(".planex/requests")).unwrap();
    for path in [".planex/runs/x", ".planex/gates/x", "discoveries.ndjson", "tasks.csv", ".planex/requests/x"] {
        let path = session.join(path);
        let tried = [
            write_atomic(&path, b"x"),
            write_atomic_nosync(&path, b"x"),
            write_private(&path, b"x"),
            append_line(&path, "x"),
            AppendLog::open(&path).map(drop),
            CappedLog::create(&path, 4096).map(drop),
            CappedLog::heal(&path).map(drop).and_then(|()| write_atomic(&path, b"x")),
            create_dir_all(&path.join("d")),
            create_dir_new(&path.join("d")).map(drop),
            rename(&root.join("p"), &path.join("d")),
            copy(&outside.join("f"), &path).map(drop),
            remove_file(&path.join("f")),
            remove_dir_all(&path.join("d")),
        ];
        for error in tried.map(Result::unwrap_err) {
            assert!(error.to_string().contains("leads out of"), "{path}: {error}");
        }
    }
    assert_eq!(names(&outside), ["f"]);
    assert_eq!(std::fs::read_to_string(outside.join("f")).unwrap(), "kept");
    // The link itself may be taken away, and its target stays.
    remove_file(&session.join("tasks.csv")).unwrap();
    remove_dir_all(&session).unwrap();
    assert_eq!(std::fs::read_to_string(outside.join("f")).unwrap(), "kept");
}

#[cfg(unix)]
#[test]
fn a_state_folder_that_lies_elsewhere_is_refused_and_links_inside_are_followed() {
    use std::os::unix::fs::symlink;
    let (_temp, root) = folder();
    let (session, outside) = project_and_outside(&root);
    symlink("tasks-mine.csv", session.join("tasks.csv")).unwrap();
    write_atomic(&session.join("tasks-mine.csv"), b"a").unwrap();
    write_atomic(&session.join("tasks.csv"), b"b").unwrap();
    assert_eq!(read(&session.join("tasks-mine.csv")).unwrap(), b"b");
    // The project may be reached by any path.
    symlink("p", root.join("by-link")).unwrap();
    write_atomic(&root.join("by-link/.workflow/x"), b"c").unwrap();
    std::fs::create_dir(root.join("q")).unwrap();
    symlink(&outside, root.join("q/.workflow")).unwrap();
    let error = create_dir_all(&root.join("q/.workflow/.lite-plan/s")).unwrap_err().to_string();
    let link = root.join("q/.workflow");
    assert!(error.contains(&format!("the symbolic link {link} leads out of")) && error.contains("remove"), "{error}");
    assert_eq!(names(&outside), ["f"]);
}

#[cfg(unix)]
#[test]
fn what_is_no_regular_file_is_refused_and_not_waited_for() {
    let (_temp, root) = folder();
    let fifo = root.join("fifo");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        fifo.as_std_path(),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
        0,
    )
    .unwrap();
    for path in [&fifo, Utf8Path::new("/dev/zero")] {
        for error in [read(path).unwrap_err(), read_head(path, 9).unwrap_err(), read_tail(path, 9).unwrap_err()] {
            assert!(error.to_string().contains("not a regular file"), "{error}");
        }
    }
    assert!(CappedLog::create(&fifo, 4096).unwrap_err().to_string().contains("not a regular file"));
    assert_eq!(read(&root).unwrap_err().kind(), io::ErrorKind::IsADirectory);
}
