//! [`Context`]: what an attempt can see and do, and [`Inputs`], the values it was given.
//!
//! It is not a door: what touches the disk goes through a [`Workspace`], which the engine supplies.
//!
//! **Invariant:** nothing that a body does here reaches the log; only what the body returns does.

use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::path::PathBuf;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::failure::StepError;
use crate::id::{RunId, StepId, TaskId};
use crate::output::Output;
use crate::params::Params;
use crate::policy::OnUnknown;
use crate::record::ArtifactEntry;

/// The values of a step's dependencies.
#[derive(Debug, Default)]
pub struct Inputs {
    /// Indexed like the step's `depends_on`: the step's id and its output, where it has one.
    values: Vec<(StepId, Option<Output>)>,
}

impl Inputs {
    /// Takes a step's inputs in the order of its `depends_on`.
    pub(crate) const fn new(values: Vec<(StepId, Option<Output>)>) -> Self {
        Self { values }
    }

    /// Decodes the value of the `index`-th dependency; `None` where that step left none.
    ///
    /// # Errors
    /// A permanent [`StepError`] when the stored bytes are no `T`.
    pub fn value<T: DeserializeOwned>(&self, index: usize) -> Result<Option<T>, StepError> {
        let Some((id, Some(output))) = self.values.get(index) else {
            return Ok(None);
        };
        output.decode().map(Some).map_err(|error| {
            StepError::permanent(format_args!("the output of `{id}` can't be read: {error}"))
        })
    }
}

/// What the engine does for a body; the door behind [`Context`].
pub(crate) trait Workspace: fmt::Debug + Send + Sync {
    /// Begins a file of this attempt.
    fn create_artifact(&self, name: &str) -> Result<Box<dyn ArtifactSink>, StepError>;
    /// Where a published file of a step is.
    fn artifact_path(&self, step: &StepId, name: &str) -> Result<PathBuf, StepError>;
    /// The run's folder of artifacts; it exists.
    fn work_dir(&self) -> Result<PathBuf, StepError>;
    /// Keeps a line and shows it.
    fn log(&self, line: &str);
    /// Shows how far the attempt is.
    fn progress(&self, done: u64, total: u64);
    /// Whether the run is being stopped.
    fn is_cancelled(&self) -> bool;
    /// The mark of an effect.
    fn marker(&self, key: &str) -> Result<Option<Marker>, StepError>;
    /// Sets or takes back the mark of an effect; durable when this returns.
    fn set_marker(&self, key: &str, marker: Option<Marker>) -> Result<(), StepError>;
}

/// A file being written by an attempt.
pub(crate) trait ArtifactSink: io::Write + fmt::Debug + Send {
    /// Makes the content durable and gives its digest and length.
    fn finish(self: Box<Self>) -> Result<ArtifactEntry, StepError>;
}

/// What is known of an effect that must happen once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Marker {
    /// It was begun; whether it happened nobody has written down.
    Begun,
    /// It happened.
    Done,
}

/// A probe: answers whether the effect with a key happened.
pub(crate) type Probe = fn(&Context, &str) -> Result<bool, StepError>;

/// The identity of an attempt and everything that was decided before its body ran.
#[derive(Debug, Clone)]
pub(crate) struct AttemptInfo {
    /// The logical instance of the task.
    pub task_id: TaskId,
    /// The run.
    pub run_id: RunId,
    /// The step.
    pub step_id: StepId,
    /// The attempt's number in the run, from 0.
    pub retry_count: u32,
    /// Covers everything the attempt was given.
    pub input_digest: Digest,
    /// The input digests of all attempts of this step in this run, this one's included.
    pub inputs: BTreeSet<Digest>,
    /// What `once` does when nobody knows whether the effect happened.
    pub on_unknown: OnUnknown,
    /// Answers whether the effect of `once` happened.
    pub probe: Option<Probe>,
}

/// What an attempt can see and do.
///
/// A step takes it as its argument `ctx: &Context`.
///
/// ```
/// use apollo::{Context, Result, step};
///
/// #[step]
/// fn measure(ctx: &Context) -> Result<u32> {
///     ctx.log(format_args!("attempt {} of {}", ctx.retry_count() + 1, ctx.task_id()));
///     Ok(17)
/// }
/// ```
#[derive(Debug)]
pub struct Context {
    info: AttemptInfo,
    params: Params,
    workspace: Box<dyn Workspace>,
}

impl Context {
    /// Makes the context of one attempt.
    pub(crate) fn new(info: AttemptInfo, params: Params, workspace: Box<dyn Workspace>) -> Self {
        Self { info, params, workspace }
    }

    /// The logical instance of the task, such as `daily_pipeline-2012-06-01`.
    #[must_use]
    pub fn task_id(&self) -> &str {
        self.info.task_id.as_str()
    }

    /// The run: the stem of its log file.
    #[must_use]
    pub fn run_id(&self) -> &str {
        self.info.run_id.as_str()
    }

    /// The step's id.
    #[must_use]
    pub fn step_id(&self) -> &str {
        self.info.step_id.as_str()
    }

    /// The number of this attempt in the run, from 0.
    #[must_use]
    pub const fn retry_count(&self) -> u32 {
        self.info.retry_count
    }

    /// Covers the outputs, the parameters and the definition that this attempt works with.
    #[must_use]
    pub const fn input_digest(&self) -> Digest {
        self.info.input_digest
    }

    /// A text that is the same for every attempt that does the same work:
    /// `task_id`, step id and input digest, joined by `/`.
    ///
    /// ```
    /// # fn post(_key: &str, _text: &str) -> std::io::Result<()> { Ok(()) }
    /// use apollo::{Context, Result, step};
    ///
    /// #[step]
    /// fn order(ctx: &Context) -> Result<()> {
    ///     // The other side drops a second request with the same key.
    ///     Ok(post(&ctx.idempotency_key(), "ten boxes")?)
    /// }
    /// ```
    #[must_use]
    pub fn idempotency_key(&self) -> String {
        format!("{}/{}/{}", self.info.task_id, self.info.step_id, self.info.input_digest)
    }

    /// The task's parameters, as the expansion of `#[step]` reads them.
    #[doc(hidden)]
    #[must_use]
    pub const fn params(&self) -> &Params {
        &self.params
    }

    /// Begins a file that the step leaves; what another attempt left under the name is replaced.
    ///
    /// The file becomes visible, under [`Context::artifact_path`], when the step has succeeded;
    /// a failed attempt leaves nothing.
    ///
    /// ```
    /// use std::io::Write as _;
    ///
    /// use apollo::{Artifact, Context, Result, step};
    ///
    /// #[step]
    /// fn export(ctx: &Context) -> Result<Artifact> {
    ///     let mut file = ctx.artifact("table.csv")?;
    ///     writeln!(file, "hour,celsius")?;
    ///     file.finish()
    /// }
    ///
    /// #[step(depends_on = [export])]
    /// fn count(ctx: &Context, export: &Artifact) -> Result<usize> {
    ///     Ok(std::fs::read_to_string(ctx.artifact_path(export)?)?.lines().count())
    /// }
    /// ```
    ///
    /// # Errors
    /// When the name is not `[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}`, or the file can't be created.
    ///
    /// # Durability
    /// The content is synced by [`ArtifactWriter::finish`], its name before the step's STEP_END.
    pub fn artifact(&self, name: &str) -> Result<ArtifactWriter, StepError> {
        let sink = self.workspace.create_artifact(name)?;
        Ok(ArtifactWriter { step: self.info.step_id.clone(), name: name.to_owned(), sink })
    }

    /// Where a file that a step left can be read.
    ///
    /// # Errors
    /// When the value names what no step can have left.
    pub fn artifact_path(&self, artifact: &Artifact) -> Result<PathBuf, StepError> {
        self.workspace.artifact_path(&artifact.step, &artifact.name)
    }

    /// The working directory of the run, `artifacts/<run>`; created when it is asked for first.
    ///
    /// All steps of the run share it, and Apollo syncs nothing in it: a step that leaves something
    /// there has a `cleanup`, or overwrites. What others shall rely on is an artifact.
    ///
    /// # Errors
    /// When it can't be created.
    pub fn work_dir(&self) -> Result<PathBuf, StepError> {
        self.workspace.work_dir()
    }

    /// Shows how far the attempt is: `done` of `total`, in units of the step's choice.
    pub fn progress(&self, done: u64, total: u64) {
        self.workspace.progress(done, total);
    }

    /// Writes a line to the attempt's captured output and shows it.
    ///
    /// # Durability
    /// None: it is not synced, and a failure to write it is no failure of the step.
    pub fn log(&self, line: impl fmt::Display) {
        self.workspace.log(&line.to_string());
    }

    /// Whether the run is being stopped; a long body asks now and then, and returns an error.
    ///
    /// ```
    /// use apollo::{Context, Result, StepError, step};
    ///
    /// #[step]
    /// fn crunch(ctx: &Context) -> Result<u64> {
    ///     let mut sum = 0;
    ///     for part in 0..100 {
    ///         if ctx.is_cancelled() {
    ///             return Err(StepError::new("stopped"));
    ///         }
    ///         sum += part;
    ///         ctx.progress(part + 1, 100);
    ///     }
    ///     Ok(sum)
    /// }
    /// ```
    ///
    /// A body that was told so and returns a value all the same is not recorded as SUCCESS.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.workspace.is_cancelled()
    }

    /// Replaces what earlier attempts wrote elsewhere: `delete` is given the input digest of every
    /// attempt of this step in this run, this one's included, and removes what carries one of
    /// them; then `write` writes, carrying [`Context::input_digest`].
    ///
    /// ```
    /// # fn delete(_tag: &str) -> apollo::Result<()> { Ok(()) }
    /// # fn insert(_tag: &str) -> apollo::Result<u64> { Ok(2) }
    /// use apollo::{Context, Result, step};
    ///
    /// #[step]
    /// fn load(ctx: &Context) -> Result<u64> {
    ///     ctx.replace_tagged(
    ///         |tags| tags.iter().try_for_each(|tag| delete(&tag.to_string())),
    ///         |tag| insert(&tag.to_string()),
    ///     )
    /// }
    /// ```
    ///
    /// # Errors
    /// What the two functions return.
    pub fn replace_tagged<T>(
        &self,
        delete: impl FnOnce(&[Digest]) -> Result<(), StepError>,
        write: impl FnOnce(&Digest) -> Result<T, StepError>,
    ) -> Result<T, StepError> {
        let tags: Vec<Digest> = self.info.inputs.iter().copied().collect();
        delete(&tags)?;
        write(&self.info.input_digest)
    }

    /// Lets an effect happen once in this run: a marker is written, the effect happens, the marker
    /// says so. Where the marker says that it happened, it does not happen again. An effect that
    /// returns an error has not happened: the marker is taken back.
    ///
    /// After a crash between the two, the step's `probe` answers whether it happened; without one
    /// the step's `on_unknown` decides: `rerun` (the default), `skip` or `fail`.
    ///
    /// Returns whether the effect happened now.
    ///
    /// ```
    /// # fn mail(_text: &str) -> std::io::Result<()> { Ok(()) }
    /// # fn sent_mails_have(_key: &str) -> bool { true }
    /// use apollo::{Context, Result, step};
    ///
    /// fn was_sent(_ctx: &Context, key: &str) -> Result<bool> {
    ///     Ok(sent_mails_have(key))
    /// }
    ///
    /// #[step(probe = was_sent)]
    /// fn tell(ctx: &Context) -> Result<bool> {
    ///     ctx.once("done", || Ok(mail("the tables are done")?))
    /// }
    /// ```
    ///
    /// # Errors
    /// What the effect or the probe returns; a permanent error with `on_unknown = fail`.
    ///
    /// # Durability
    /// Both states of the marker are synced before this goes on.
    pub fn once(
        &self,
        key: &str,
        effect: impl FnOnce() -> Result<(), StepError>,
    ) -> Result<bool, StepError> {
        match self.workspace.marker(key)? {
            Some(Marker::Done) => return Ok(false),
            Some(Marker::Begun) if self.has_happened(key)? => {
                self.workspace.set_marker(key, Some(Marker::Done))?;
                return Ok(false);
            }
            Some(Marker::Begun) => {}
            None => self.workspace.set_marker(key, Some(Marker::Begun))?,
        }
        if let Err(error) = effect() {
            self.workspace.set_marker(key, None)?;
            return Err(error);
        }
        self.workspace.set_marker(key, Some(Marker::Done))?;
        Ok(true)
    }

    fn has_happened(&self, key: &str) -> Result<bool, StepError> {
        match (self.info.probe, self.info.on_unknown) {
            (Some(probe), _) => probe(self, key),
            (None, OnUnknown::Rerun) => Ok(false),
            (None, OnUnknown::Skip) => Ok(true),
            (None, OnUnknown::Fail) => Err(StepError::permanent(format_args!(
                "nobody knows whether the effect `{}` happened before the crash; look, then \
                 remove its marker or set a probe",
                key.escape_debug()
            ))),
        }
    }
}

/// A file that a step left; a value to return, so that dependents can find it. The example of
/// [`Context::artifact`] shows both sides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Artifact {
    /// The step that left it.
    pub step: StepId,
    /// Its name.
    pub name: String,
    /// Covers its bytes.
    pub digest: Digest,
    /// Its length in bytes.
    pub bytes: u64,
}

/// Writes a file that a step leaves; made by [`Context::artifact`].
#[derive(Debug)]
#[must_use = "a file that is not finished is no artifact"]
pub struct ArtifactWriter {
    step: StepId,
    name: String,
    sink: Box<dyn ArtifactSink>,
}

impl ArtifactWriter {
    /// Makes the content durable and declares the file.
    ///
    /// # Errors
    /// When the content can't be written or synced; the file is then no artifact.
    pub fn finish(self) -> Result<Artifact, StepError> {
        let ArtifactEntry { digest, bytes } = self.sink.finish()?;
        Ok(Artifact { step: self.step, name: self.name, digest, bytes })
    }
}

impl io::Write for ArtifactWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.sink.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }
}
