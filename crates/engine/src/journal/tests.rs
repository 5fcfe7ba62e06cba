use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use camino::Utf8PathBuf;

use super::*;

fn place() -> (tempfile::TempDir, Utf8PathBuf) {
    let temp = tempfile::tempdir().unwrap();
    let path = Utf8Path::from_path(temp.path()).unwrap().join("journal.ndjson");
    (temp, path)
}

fn open(path: &Utf8Path, surfaces: Surfaces) -> Journal {
    Journal::open(path, surfaces, Clock::system(), Zone::default()).unwrap()
}

fn texts(path: &Utf8Path) -> Vec<(u64, String)> {
    let text = |event: &Event| match &event.kind {
        EventKind::Notice { text, .. } => text.clone(),
        other => panic!("{other:?}"),
    };
    read(path).unwrap().events.iter().map(|event| (event.seq, text(event))).collect()
}

#[test]
fn an_event_is_on_disk_before_anyone_is_shown_it() {
    let (_temp, path) = place();
    let (seen, file) = (Arc::new(AtomicUsize::new(0)), path.clone());
    let count = Arc::clone(&seen);
    let surface = move |event: &Event| {
        let lines = std::fs::read_to_string(&file).unwrap().lines().count() as u64;
        assert!(lines >= event.seq, "shown before it was written");
        count.fetch_add(1, Ordering::SeqCst);
    };
    let journal = open(&path, Arc::new(Mutex::new(vec![Box::new(surface)])));
    let sink = journal.sink();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let sink = sink.clone();
            scope.spawn(move || (0..250).for_each(|n| sink.notice(Level::Info, format!("n{n}"))));
        }
    });
    sink.flush().unwrap();
    assert_eq!(seen.load(Ordering::SeqCst), 1000);
    let seqs: Vec<u64> = read(&path).unwrap().events.iter().map(|event| event.seq).collect();
    assert_eq!(seqs, (1..=1000).collect::<Vec<u64>>());
}

#[test]
fn numbers_go_on_after_a_restart_and_a_torn_line_is_healed() {
    let (_temp, path) = place();
    let journal = open(&path, Surfaces::default());
    journal.sink().notice(Level::Info, "one");
    journal.sink().notice(Level::Info, "two");
    drop(journal);
    let mut bytes = std::fs::read(&path).unwrap();
    bytes.extend_from_slice(b"{\"seq\":3,\"ts\":\"x");
    std::fs::write(&path, bytes).unwrap();
    let journal = open(&path, Surfaces::default());
    journal.sink().notice(Level::Info, "three");
    drop(journal);
    assert_eq!(texts(&path), [(1, "one".to_owned()), (2, "two".to_owned()), (3, "three".to_owned())]);
    assert_eq!(read(&path).unwrap().skipped, 1);
}

#[test]
fn a_burst_costs_few_flushes() {
    let (_temp, path) = place();
    let journal = open(&path, Surfaces::default());
    let begun = Instant::now();
    (0..20_000).for_each(|n| journal.sink().notice(Level::Info, format!("n{n}")));
    journal.sink().flush().unwrap();
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    assert_eq!(read(&path).unwrap().events.len(), 20_000);
}

#[test]
fn a_tail_follows_and_survives_a_removed_journal() {
    let (_temp, path) = place();
    let mut tail = Tail::new(path.clone());
    assert!(tail.poll().unwrap().is_empty());
    let journal = open(&path, Surfaces::default());
    journal.sink().notice(Level::Info, "one");
    journal.sink().flush().unwrap();
    assert_eq!(tail.poll().unwrap().len(), 1);
    assert!(tail.poll().unwrap().is_empty());
    drop(journal);
    std::fs::remove_file(&path).unwrap();
    let journal = open(&path, Surfaces::default());
    journal.sink().notice(Level::Info, "1");
    journal.sink().flush().unwrap();
    assert_eq!(tail.poll().unwrap().len(), 1, "a journal that was made anew is read from its start");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told_and_events_are_still_shown() {
    let seen = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&seen);
    let surface = move |_: &Event| {
        count.fetch_add(1, Ordering::SeqCst);
    };
    let journal = open("/dev/full".into(), Arc::new(Mutex::new(vec![Box::new(surface)])));
    journal.sink().notice(Level::Info, "x");
    let error = journal.sink().flush().unwrap_err();
    assert_eq!(error.exit_code(), 1);
    assert!(error.to_string().contains("/dev/full"), "{error}");
    assert_eq!(seen.load(Ordering::SeqCst), 1);
    assert!(journal.sink().check().is_err(), "it is not forgotten");
}
