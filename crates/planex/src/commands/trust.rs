//! `planex trust`.

use camino::Utf8PathBuf;
use planex_engine::project::Project;

use crate::context::Context;
use crate::error::{CliError, Exit, Result};
use crate::folders::Folders;
use crate::setup::{Setup, Trust, ask_trust, trust_store};
use crate::ui::Ui;

/// Trust the configuration of a repository
///
/// Trust is bound to the folder and to the content: a change of what planex.toml runs or allows asks again.
#[derive(Debug, clap::Args)]
pub(crate) struct TrustArgs {
    /// Folder of the project [default: this one]
    pub(crate) dir: Option<Utf8PathBuf>,
    /// Take the trust back
    #[arg(long)]
    pub(crate) revoke: bool,
}

/// Runs the command.
pub(crate) fn run(args: &TrustArgs, context: &Context, ui: &mut Ui) -> Result<Exit> {
    context.refuse_inside_job("trust")?;
    let folders = Folders::of(&context.env);
    let dir = args.dir.as_ref().map_or_else(|| context.dir.clone(), |dir| context.path(dir));
    if !planex_sys::fs::is_dir(&dir) {
        return Err(CliError::usage(format!("`{dir}` is not a folder")));
    }
    if args.revoke {
        let root = Project::find(&dir, folders.home.as_deref()).root;
        let was = trust_store(&folders)?.revoke(&root)?;
        ui.result(if was { format!("{root} is not trusted any more") } else { format!("{root} was not trusted") });
        return Ok(Exit::Done);
    }
    let mut there = context.clone();
    (there.dir, there.common.trust) = (dir, false);
    let setup = Setup::read(&there)?;
    let root = &setup.project.root;
    let parts = match &setup.trust {
        Trust::NotNeeded => {
            ui.result(format_args!("nothing in {root}/planex.toml needs trust"));
            return Ok(Exit::Done);
        }
        Trust::Given => {
            ui.result(format_args!("{root} is trusted already"));
            return Ok(Exit::Done);
        }
        Trust::Missing(parts) => parts,
    };
    // Typing the command is the consent; at a terminal the user still sees first what it means. -y gives no trust, and
    // takes none away from someone who typed this.
    if ui.is_interactive() && !ask_trust(root, parts, ui)? {
        return Err(CliError::new(Exit::Stopped, format!("{root} is not trusted")));
    }
    trust_store(&folders)?.grant(root, parts)?;
    for line in &parts.lines {
        ui.status(format_args!("  {}", planex_core::text::one_line(line)));
    }
    ui.result(format_args!("{root} is trusted as it is now"));
    Ok(Exit::Done)
}
