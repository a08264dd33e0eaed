//! [`Act`]: what a body of a simulated run does, on the disk through its context and outside it.

use std::io::Write as _;
use std::sync::Arc;

use apollo::{Artifact, Context, Result, StepError};

use super::world::{Beginning, World};

/// A body at work.
#[derive(Debug)]
pub struct Act<'a> {
    ctx: &'a Context,
    world: Arc<World>,
}

impl<'a> Act<'a> {
    /// A body begins.
    ///
    /// # Errors
    /// When the run is being stopped.
    pub fn begin(ctx: &'a Context) -> Result<Self> {
        Self::with(ctx, Beginning::Plain)
    }

    /// The body of a step begins that has [`cleanup`].
    ///
    /// # Errors
    /// When the run is being stopped.
    pub fn begin_cleaned(ctx: &'a Context) -> Result<Self> {
        Self::with(ctx, Beginning::Cleaned)
    }

    fn with(ctx: &'a Context, beginning: Beginning) -> Result<Self> {
        let this = Self { ctx, world: World::of(ctx) };
        this.world.body_begins(ctx, beginning);
        if ctx.is_cancelled() { Err(StepError::new("told to stop")) } else { Ok(this) }
    }

    /// Leaves a file.
    ///
    /// # Errors
    /// What the disk says.
    pub fn leave(&self, name: &str, content: &[u8]) -> Result<Artifact> {
        let mut file = self.ctx.artifact(name)?;
        file.write_all(content)?;
        file.finish()
    }

    /// Reads a file that a step left.
    ///
    /// # Errors
    /// When it is not there.
    pub fn read(&self, artifact: &Artifact) -> Result<Vec<u8>> {
        let path = self.ctx.artifact_path(artifact)?;
        let content = self.world.disk().read(&path);
        content.ok_or_else(|| StepError::permanent(format!("{} is gone", path.display())))
    }

    /// Begins something outside that would be half done if the process died now.
    pub fn soil(&self) {
        self.world.soil(self.ctx.step_id(), true);
    }

    /// It is done wholly.
    pub fn tidy(&self) {
        self.world.soil(self.ctx.step_id(), false);
    }

    /// Lets an effect happen once.
    ///
    /// # Errors
    /// What the disk says of its marker.
    pub fn once(&self, key: &str) -> Result<()> {
        let step = self.ctx.step_id();
        self.ctx.once(key, || {
            if self.world.is_dead() {
                return Err(StepError::new("the process is dead"));
            }
            self.world.effect(step, key);
            Ok(())
        })?;
        Ok(())
    }

    /// Comes back with a value.
    ///
    /// # Errors
    /// Never; bodies return a result.
    pub fn done<T>(self, value: T) -> Result<T> {
        Ok(value)
    }
}

impl Drop for Act<'_> {
    fn drop(&mut self) {
        self.world.body_ends(self.ctx.step_id());
    }
}

/// Takes away what another attempt left half done.
///
/// # Errors
/// Never; cleanups return a result.
pub fn cleanup(ctx: &Context) -> Result<()> {
    World::of(ctx).cleanup(ctx.step_id(), ctx.retry_count());
    Ok(())
}

/// Whether an effect happened.
///
/// # Errors
/// Never; probes return a result.
pub fn probe(ctx: &Context, key: &str) -> Result<bool> {
    Ok(World::of(ctx).has_happened(ctx.step_id(), key))
}
