//! [`Dir`]: a directory of one test, removed when the test has succeeded.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A directory of one test; it stays for a look when the test fails.
#[derive(Debug)]
pub struct Dir(PathBuf);

impl Dir {
    /// Makes an empty one whose name begins with a word.
    ///
    /// # Panics
    /// When it can't be made.
    pub fn new(word: &str) -> Self {
        Self::below(&test_root(), word)
    }

    /// Makes an empty one in another directory, on a file system of its own for example.
    ///
    /// # Panics
    /// When it can't be made.
    pub fn below(root: &Path, word: &str) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::SeqCst);
        let path = root.join(format!("{word}-{}-{number}", std::process::id()));
        // What a test that failed under the same process id left.
        drop(fs::remove_dir_all(&path));
        fs::create_dir_all(&path).expect("a directory of the test");
        Self(path)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The Apollo directory in it.
    pub fn apollo(&self) -> PathBuf {
        self.0.join(".apollo")
    }

    /// The logs in it, in the order of their names.
    pub fn logs(&self) -> Vec<PathBuf> {
        logs_in(&self.apollo())
    }

    /// The only log in it.
    ///
    /// # Panics
    /// When there is none, or another one.
    pub fn only_log(&self) -> PathBuf {
        let logs = self.logs();
        assert_eq!(logs.len(), 1, "one log in {}: {logs:?}", self.0.display());
        logs.into_iter().next().expect("just counted")
    }

    /// How many torn tails were cut off and kept.
    pub fn torn_tails(&self) -> usize {
        let names = names(&self.apollo().join("logs"));
        names.iter().filter(|name| name.contains(".torn-")).count()
    }

    /// The content of every file below a folder of the Apollo directory, by its name below that
    /// folder, where the run's own name is left out.
    pub fn content(&self, folder: &str) -> Vec<(String, Vec<u8>)> {
        let mut found = Vec::new();
        let root = self.apollo().join(folder);
        for run in names(&root) {
            collect(&root.join(&run), "", &mut found);
        }
        found.sort();
        found
    }

    /// Every file below the directory with its bytes: what no reader may change.
    pub fn everything(&self) -> Vec<(String, Vec<u8>)> {
        let mut found = Vec::new();
        collect(&self.0, "", &mut found);
        found.sort();
        found
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            drop(fs::remove_dir_all(&self.0));
        }
    }
}

/// The logs in an Apollo directory, in the order of their names.
pub fn logs_in(apollo: &Path) -> Vec<PathBuf> {
    let dir = apollo.join("logs");
    let mut logs: Vec<_> = names(&dir).into_iter().map(|name| dir.join(name)).collect();
    logs.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    logs
}

/// Where tests keep their files: below the target directory, on a real disk.
pub fn test_root() -> PathBuf {
    let built = std::env::current_exe().expect("a test knows its own file");
    let target = built.ancestors().find(|dir| dir.join("CACHEDIR.TAG").exists());
    target.map_or_else(std::env::temp_dir, |dir| dir.join("tmp"))
}

fn names(dir: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(dir) else { return Vec::new() };
    let mut names: Vec<_> = entries
        .map(|entry| entry.expect("a readable directory").file_name().into_string().expect("UTF-8"))
        .collect();
    names.sort();
    names
}

fn collect(dir: &Path, below: &str, found: &mut Vec<(String, Vec<u8>)>) {
    for name in names(dir) {
        let path = dir.join(&name);
        let said = if below.is_empty() { name } else { format!("{below}/{name}") };
        if path.is_dir() {
            collect(&path, &said, found);
        } else {
            found.push((said, fs::read(&path).expect("a readable file")));
        }
    }
}
