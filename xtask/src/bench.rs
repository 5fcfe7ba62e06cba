//! `cargo xtask bench`: what planex itself costs, beside the jobs that it runs.
//!
//! - Time: a fan-out of many short jobs against `xargs` with the same command and as many at once, alternating in the
//!   same run, so that the machine's mood hits both. The figure is the ratio of the medians.
//! - Memory: the peak of planex's own process, and of the whole tree below it, at few and at many jobs.

use std::fmt::Write as _;
use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use camino::{Utf8Path, Utf8PathBuf};

use crate::shell::{cargo, command, root, run as start, say};

/// What to measure.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Jobs of the large run
    #[arg(long, default_value_t = 1000)]
    jobs: usize,
    /// Jobs at once
    #[arg(short, long, default_value_t = 16)]
    concurrency: usize,
    /// How long one job takes, in milliseconds
    #[arg(long, default_value_t = 20)]
    job_ms: u32,
    /// How often each side runs
    #[arg(long, default_value_t = 3)]
    runs: usize,
    /// Measure this binary (default: builds the release one)
    #[arg(long)]
    planex: Option<Utf8PathBuf>,
}

/// Measures, and prints one table.
pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let planex = match &args.planex {
        Some(path) => path.canonicalize_utf8().with_context(|| format!("no binary at {path}"))?,
        None => {
            start(cargo().args(["build", "--release", "--package", "planex"]))?;
            root().join("target/release/planex")
        }
    };
    let place = Place::make(args)?;
    let small = place.fanout(&planex, 10, args.concurrency)?;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for round in 1..=args.runs.max(1) {
        say(&format!("round {round} of {}", args.runs.max(1)));
        theirs.push(place.xargs(args.jobs, args.concurrency)?);
        ours.push(place.fanout(&planex, args.jobs, args.concurrency)?);
    }
    let large = ours.iter().fold(Peak::default(), |peak, run| peak.max(run.peak));
    let (ours, theirs) = (median(ours.iter().map(|run| run.wall)), median(theirs.into_iter()));
    let ideal = f64::from(args.job_ms) / 1000.0 * args.jobs.div_ceil(args.concurrency) as f64;
    let mut table = String::new();
    writeln!(table, "| {} jobs of {} ms, {} at once | |", args.jobs, args.job_ms, args.concurrency)?;
    writeln!(table, "| --- | --- |")?;
    writeln!(table, "| xargs -P{} | {:.2} s |", args.concurrency, theirs.as_secs_f64())?;
    writeln!(table, "| planex fanout | {:.2} s |", ours.as_secs_f64())?;
    writeln!(table, "| ratio (aim: 1.5 or less) | {:.2} |", ours.as_secs_f64() / theirs.as_secs_f64())?;
    writeln!(table, "| at least, without any cost of starting | {ideal:.2} s |")?;
    writeln!(table, "| peak memory at 10 jobs: planex / all below it | {} |", small.peak)?;
    writeln!(table, "| peak memory at {} jobs: planex / all below it | {large} |", args.jobs)?;
    say(&table);
    Ok(())
}

/// Peak resident memory in KiB.
#[derive(Debug, Default, Clone, Copy)]
struct Peak {
    own: u64,
    tree: u64,
}

impl Peak {
    fn max(self, other: Self) -> Self {
        Self { own: self.own.max(other.own), tree: self.tree.max(other.tree) }
    }
}

impl std::fmt::Display for Peak {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mib = |kib: u64| kib as f64 / 1024.0;
        write!(f, "{:.1} MiB / {:.1} MiB", mib(self.own), mib(self.tree))
    }
}

struct Measured {
    wall: Duration,
    peak: Peak,
}

/// A project of its own, with a configuration of its own, below `target`.
struct Place {
    dir: Utf8PathBuf,
    job: Utf8PathBuf,
}

impl Place {
    fn make(args: &Args) -> anyhow::Result<Self> {
        let dir = root().join("target/bench");
        if dir.exists() {
            fs::remove_dir_all(&dir).with_context(|| format!("cannot remove {dir}"))?;
        }
        fs::create_dir_all(dir.join("config/planex"))?;
        let job = dir.join("job.sh");
        fs::write(&job, format!("sleep {}\necho '{{\"ok\":true}}'\n", f64::from(args.job_ms) / 1000.0))?;
        let config = format!(
            "[agents.bench]\ncommand = [\"sh\", \"{job}\"]\nprompt = \"stdin\"\nresult = \"stdout\"\nconcurrency = {}\n",
            args.concurrency
        );
        fs::write(dir.join("config/planex/config.toml"), config)?;
        Ok(Self { dir, job })
    }

    /// The same command, by xargs.
    fn xargs(&self, jobs: usize, concurrency: usize) -> anyhow::Result<Duration> {
        let list = self.dir.join("list");
        fs::write(&list, (1..=jobs).map(|number| format!("{number}\n")).collect::<String>())?;
        let line = format!("xargs -P{concurrency} -n1 sh {} < {list} > /dev/null", self.job);
        let begin = Instant::now();
        let status = command("sh").args(["-c", &line]).status()?;
        if !status.success() {
            bail!("`{line}` failed: {status}");
        }
        Ok(begin.elapsed())
    }

    /// Through planex, all results on disk.
    fn fanout(&self, planex: &Utf8Path, jobs: usize, concurrency: usize) -> anyhow::Result<Measured> {
        let project = self.dir.join("project");
        if project.exists() {
            fs::remove_dir_all(&project)?;
        }
        fs::create_dir_all(project.join(".workflow"))?;
        let rows: String = (1..=jobs).map(|number| format!("row{number},{number}\n")).collect();
        fs::write(project.join("jobs.csv"), format!("id,value\n{rows}"))?;
        fs::write(project.join("job.md"), "Say ok to {value}.\n")?;
        let mut fanout = Command::new(planex);
        fanout.args(["fanout", "jobs.csv", "--instruction", "job.md", "--id-column", "id", "--agent", "bench"]).args([
            "--output",
            "results.csv",
            "--no-progress",
            "--quiet",
            "-c",
            &concurrency.to_string(),
        ]);
        fanout.current_dir(&project).stdin(Stdio::null()).stdout(Stdio::null()).env_clear();
        fanout.env("PATH", "/usr/local/bin:/usr/bin:/bin").env("HOME", &self.dir);
        fanout.env("XDG_CONFIG_HOME", self.dir.join("config"));
        let measured = measure(&mut fanout)?;
        let results = fs::read_to_string(project.join("results.csv")).context("planex wrote no results.csv")?;
        let completed = results.lines().filter(|line| line.contains("completed")).count();
        if completed != jobs {
            bail!("{completed} of {jobs} rows are completed in {project}/results.csv");
        }
        Ok(measured)
    }
}

/// Runs a command and watches its memory.
fn measure(command: &mut Command) -> anyhow::Result<Measured> {
    let begin = Instant::now();
    let mut child = command.spawn().context("cannot start planex")?;
    let mut peak = Peak::default();
    let mut seen = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        std::thread::sleep(Duration::from_millis(2));
        // Looking costs time itself: not oftener than needed.
        if seen.elapsed() > Duration::from_millis(100) || peak.own == 0 {
            peak = peak.max(look(child.id()));
            seen = Instant::now();
        }
    };
    let wall = begin.elapsed();
    if !status.success() {
        bail!("planex fanout failed: {status}");
    }
    Ok(Measured { wall, peak })
}

/// Memory of a process (its own peak so far) and of all below it now.
fn look(pid: u32) -> Peak {
    let own = field(pid, "VmHWM:");
    let mut tree = field(pid, "VmRSS:");
    let mut open = vec![pid];
    while let Some(parent) = open.pop() {
        let path = format!("/proc/{parent}/task/{parent}/children");
        let children = fs::read_to_string(path).unwrap_or_default();
        for child in children.split_whitespace().filter_map(|pid| pid.parse().ok()) {
            tree += field(child, "VmRSS:");
            open.push(child);
        }
    }
    Peak { own, tree }
}

fn field(pid: u32, name: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
    line.trim().trim_end_matches("kB").trim().parse().unwrap_or(0)
}

fn median(times: impl Iterator<Item = Duration>) -> Duration {
    let mut times: Vec<Duration> = times.collect();
    times.sort();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        let of = |times: &[u64]| median(times.iter().map(|time| Duration::from_secs(*time)));
        assert_eq!(of(&[3, 1, 2]), Duration::from_secs(2));
        assert_eq!(of(&[]), Duration::ZERO);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn memory_is_seen() {
        let peak = look(std::process::id());
        assert!(peak.own > 100 && peak.tree > 100, "{peak}");
    }
}
