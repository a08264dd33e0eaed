//! [`Workshop`]: a copy of the workspace, in which mutants are built and judged.
//!
//! It is not the workspace itself: of that it only reads.
//!
//! **Invariant:** a file is written only when it changes, so that a build makes again only what
//! follows from one mutant, or from taking it back.

use std::collections::BTreeSet;
use std::fmt;
use std::fs::{self, File};
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use super::mutant::{Judge, Mutant};

/// The longest that a judge may take: who hangs has noticed nothing.
const PATIENCE: Duration = Duration::from_secs(300);

/// How often is looked whether a judge is done.
const LOOK: Duration = Duration::from_millis(20);

/// A copy of the workspace.
#[derive(Debug)]
pub struct Workshop {
    sources: PathBuf,
    target: PathBuf,
    /// What the last program said.
    said: PathBuf,
}

/// What a judge says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Something is broken.
    Caught {
        /// The check, or the test, that noticed it.
        by: String,
        /// How much was tried by then.
        after: String,
    },
    /// Nothing was noticed.
    Passed,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Caught { by, after } => write!(f, "{by} after {after}"),
            Self::Passed => f.write_str("NOT CAUGHT"),
        }
    }
}

/// Files that are another text for a while.
struct Mutated(Vec<(PathBuf, String)>);

impl Drop for Mutated {
    fn drop(&mut self) {
        for (path, source) in &self.0 {
            // The next workshop here compares every file with the workspace's.
            drop(fs::write(path, source));
        }
    }
}

impl Workshop {
    /// Makes a directory the copy of a workspace as it is now, what is not committed included.
    ///
    /// # Errors
    /// What git or the disk says.
    pub fn open(workspace: &Path, at: &Path) -> Result<Self, String> {
        let this = Self {
            sources: at.join("sources"),
            target: at.join("target"),
            said: at.join("said.txt"),
        };
        let copied = this.copy(workspace);
        copied.map_err(|error| format!("can't copy the workspace: {error}"))?;
        Ok(this)
    }

    /// Lets a mutant be judged.
    ///
    /// # Errors
    /// When it does not fit into the sources, or does not compile, or the judge comes to no end.
    pub fn judge(&self, mutant: &Mutant, seeds: u64) -> Result<Verdict, String> {
        let _mutated = self.mutate(mutant)?;
        self.ask(&mutant.judge, seeds)
    }

    /// Lets the sources be judged as they are.
    ///
    /// # Errors
    /// As [`Self::judge`].
    pub fn ask(&self, judge: &Judge, seeds: u64) -> Result<Verdict, String> {
        match judge {
            Judge::Simulation => self.ask_simulation(seeds),
            Judge::Tests(told) => self.ask_tests(told),
        }
    }

    fn ask_simulation(&self, seeds: u64) -> Result<Verdict, String> {
        self.must(self.cargo("build --quiet --package apollo-tests --bin simulate"))?;
        let mut simulate = Command::new(self.target.join("debug/simulate"));
        simulate.args(["--first-failure", "--seeds", &seeds.to_string()]);
        let ended = self.run(&mut simulate)?;
        let said = self.said();
        let caught = said.lines().find_map(|line| line.strip_prefix("caught: "));
        match caught.and_then(|caught| caught.split_once(" after ")) {
            Some((by, after)) => Ok(Verdict::Caught { by: by.to_owned(), after: after.to_owned() }),
            None if ended.success() => Ok(Verdict::Passed),
            None => Err(format!("the simulation ends with {ended}:\n{said}")),
        }
    }

    fn ask_tests(&self, told: &str) -> Result<Verdict, String> {
        // What does not compile fails nothing.
        let (of, filter) = told.rsplit_once(' ').ok_or("tests without a filter")?;
        self.must(self.cargo(&format!("{of} --no-run --quiet")))?;
        let ended = self.run(&mut self.cargo(told))?;
        let said = self.said();
        let results: Vec<_> = said.lines().filter_map(|line| line.strip_prefix("test ")).collect();
        let failed = results.iter().find_map(|line| line.strip_suffix(" ... FAILED"));
        match failed {
            Some(by) => {
                let run = results.iter().filter(|line| line.contains(" ... ")).count();
                Ok(Verdict::Caught { by: by.to_owned(), after: format!("{run} tests") })
            }
            None if ended.success() && !results.is_empty() => Ok(Verdict::Passed),
            None => Err(format!("`{filter}` ends with {ended}:\n{said}")),
        }
    }

    /// Puts the changes of a mutant into the copy, until they are dropped.
    fn mutate(&self, mutant: &Mutant) -> Result<Mutated, String> {
        let mut mutated = Mutated(Vec::new());
        for change in &mutant.changes {
            let path = self.sources.join(&change.file);
            let failed = |error: io::Error| format!("{}: {error}", path.display());
            let source = fs::read_to_string(&path).map_err(failed)?;
            let changed = change.applied(&source)?;
            // Taken back in the order of their making, so the first text of a file comes last.
            mutated.0.insert(0, (path.clone(), source));
            fs::write(&path, changed).map_err(failed)?;
        }
        Ok(mutated)
    }

    fn copy(&self, workspace: &Path) -> io::Result<()> {
        let listed = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
        let listed = Command::new("git").args(listed).current_dir(workspace).output()?;
        let names = String::from_utf8_lossy(&listed.stdout).into_owned();
        let names = names.split('\0').filter(|name| !name.is_empty()).map(PathBuf::from);
        // What git knows and somebody has just removed is no part of it.
        let names: BTreeSet<_> = names.filter(|name| workspace.join(name).is_file()).collect();
        if names.is_empty() {
            return Err(io::Error::other("git lists no file in it"));
        }
        let mut dirs = vec![self.sources.clone()];
        fs::create_dir_all(&self.sources)?;
        while let Some(dir) = dirs.pop() {
            for entry in fs::read_dir(dir)? {
                let path = entry?.path();
                if path.is_dir() {
                    dirs.push(path);
                } else if path.strip_prefix(&self.sources).is_ok_and(|name| !names.contains(name)) {
                    fs::remove_file(path)?;
                }
            }
        }
        for name in names {
            let (bytes, to) = (fs::read(workspace.join(&name))?, self.sources.join(&name));
            if fs::read(&to).is_ok_and(|there| there == bytes) {
                continue;
            }
            fs::create_dir_all(to.parent().unwrap_or(&to))?;
            fs::write(to, bytes)?;
        }
        Ok(())
    }

    fn cargo(&self, told: &str) -> Command {
        let mut cargo = Command::new("cargo");
        cargo
            .args(told.split_whitespace())
            .current_dir(&self.sources)
            .env("CARGO_TARGET_DIR", &self.target)
            // Nobody looks at a mutant with a debugger, and the next one differs by a line.
            .env("CARGO_PROFILE_DEV_DEBUG", "0")
            .env("CARGO_INCREMENTAL", "1")
            .env("CARGO_TERM_COLOR", "never");
        cargo
    }

    /// Builds something; what does not compile is no mutant.
    fn must(&self, mut cargo: Command) -> Result<(), String> {
        let built = cargo.stdin(Stdio::null()).output();
        let built = built.map_err(|error| format!("cargo does not start: {error}"))?;
        let said = String::from_utf8_lossy(&built.stderr);
        if built.status.success() { Ok(()) } else { Err(format!("it does not compile:\n{said}")) }
    }

    /// Runs a judge to its end, or to that of the patience; what it says is in a file.
    fn run(&self, judge: &mut Command) -> Result<ExitStatus, String> {
        let ended = self.try_run(judge).map_err(|error| format!("the judge fails: {error}"))?;
        ended.ok_or_else(|| format!("it has not ended after {} s", PATIENCE.as_secs()))
    }

    fn try_run(&self, judge: &mut Command) -> io::Result<Option<ExitStatus>> {
        let said = File::create(&self.said)?;
        judge.stdin(Stdio::null()).stdout(said.try_clone()?).stderr(said);
        // A group of its own, so that what it started ends with it.
        let mut child = judge.process_group(0).spawn()?;
        let began = Instant::now();
        while began.elapsed() < PATIENCE {
            if let Some(ended) = child.try_wait()? {
                return Ok(Some(ended));
            }
            thread::park_timeout(LOOK);
        }
        if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
            kill_process_group(group, Signal::KILL)?;
        }
        child.wait()?;
        Ok(None)
    }

    fn said(&self) -> String {
        fs::read(&self.said)
            .map(|said| String::from_utf8_lossy(&said).into_owned())
            .unwrap_or_default()
    }
}
