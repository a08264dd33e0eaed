//! One task, `changing`, as it looks in one build after another.

use apollo::{Artifact, Context, Result, step, task};

use super::scripted::act;

/// The first build.
pub mod v1 {
    use super::*;

    #[step]
    fn load(ctx: &Context) -> Result<Artifact> {
        act(ctx)?;
        let mut file = ctx.artifact("load.txt")?;
        std::io::Write::write_all(&mut file, b"loaded\n")?;
        file.finish()
    }

    #[step(depends_on = [load])]
    fn middle(ctx: &Context, load: &Artifact) -> Result<u64> {
        act(ctx)?;
        Ok(load.bytes)
    }

    #[step(depends_on = [middle])]
    fn last(ctx: &Context, middle: &u64) -> Result<u64> {
        act(ctx)?;
        Ok(*middle)
    }

    task! { pub changing { steps: [load, middle, last] } }
}

/// `load` has another name, and nothing else changed.
pub mod renamed {
    use super::*;

    #[step(renamed_from = "load")]
    fn fetch(ctx: &Context) -> Result<Artifact> {
        act(ctx)?;
        let mut file = ctx.artifact("load.txt")?;
        std::io::Write::write_all(&mut file, b"loaded\n")?;
        file.finish()
    }

    #[step(depends_on = [fetch])]
    fn middle(ctx: &Context, fetch: &Artifact) -> Result<u64> {
        act(ctx)?;
        Ok(std::fs::read(ctx.artifact_path(fetch)?)?.len() as u64)
    }

    #[step(depends_on = [middle])]
    fn last(ctx: &Context, middle: &u64) -> Result<u64> {
        act(ctx)?;
        Ok(*middle)
    }

    task! { pub changing { steps: [fetch, middle, last] } }
}

/// `load` has a higher version.
pub mod risen {
    use super::*;

    #[step(version = 2)]
    fn load(ctx: &Context) -> Result<Artifact> {
        act(ctx)?;
        let mut file = ctx.artifact("load.txt")?;
        std::io::Write::write_all(&mut file, b"loaded anew\n")?;
        file.finish()
    }

    #[step(depends_on = [load])]
    fn middle(ctx: &Context, load: &Artifact) -> Result<u64> {
        act(ctx)?;
        Ok(load.bytes)
    }

    #[step(depends_on = [middle])]
    fn last(ctx: &Context, middle: &u64) -> Result<u64> {
        act(ctx)?;
        Ok(*middle)
    }

    task! { pub changing { steps: [load, middle, last] } }
}

/// `last` is gone, and `other` is new.
pub mod vanished {
    use super::*;

    #[step]
    fn load(ctx: &Context) -> Result<Artifact> {
        act(ctx)?;
        let mut file = ctx.artifact("load.txt")?;
        std::io::Write::write_all(&mut file, b"loaded\n")?;
        file.finish()
    }

    #[step(depends_on = [load])]
    fn middle(ctx: &Context, load: &Artifact) -> Result<u64> {
        act(ctx)?;
        Ok(load.bytes)
    }

    #[step(depends_on = [load])]
    fn other(ctx: &Context) -> Result<()> {
        act(ctx)
    }

    task! { pub changing { steps: [load, middle, other] } }
}
