//! `planex init`.

use planex_core::settings::keys::KEYS;
use planex_explore::{ExploreOptions, Explorer, project_tech};

use crate::context::Context;
use crate::error::{CliError, Exit, Result};
use crate::setup::{Setup, shown};
use crate::ui::Ui;

/// Prepare a project: planex.toml and what planex learns about it
#[derive(Debug, clap::Args)]
pub(crate) struct InitArgs {
    /// Write again what is there (planex.toml is never overwritten)
    #[arg(long)]
    pub(crate) force: bool,
}

/// Runs the command.
pub(crate) fn run(args: &InitArgs, context: &Context, ui: &mut Ui) -> Result<Exit> {
    context.refuse_inside_job("init")?;
    let setup = Setup::read(context)?;
    let root = &setup.project.root;
    let config = root.join("planex.toml");
    if planex_sys::fs::exists(&config) {
        ui.result(format_args!("kept  {}", shown(&config, &context.dir)));
    } else {
        planex_sys::fs::write_atomic(&config, skeleton().as_bytes())?;
        ui.result(format_args!("wrote {}", shown(&config, &context.dir)));
    }
    let tech_file = setup.project.workflow().join("project-tech.json");
    if planex_sys::fs::exists(&tech_file) && !args.force {
        ui.result(format_args!("kept  {} (--force writes it anew)", shown(&tech_file, &context.dir)));
    } else {
        let options = ExploreOptions { cache_dir: setup.folders.cache.clone(), ..ExploreOptions::default() };
        let explorer = Explorer::open(root, &options).map_err(CliError::failed)?;
        let stamp = setup.zone().stamp(planex_sys::clock::now());
        let tech = project_tech(root, Some(&explorer), &stamp);
        let text = serde_json::to_string_pretty(&tech)
            .map_err(|error| CliError::failed(format!("failed to write {tech_file}: {error}")))?;
        planex_sys::fs::create_dir_all(&setup.project.workflow())?;
        planex_sys::fs::write_atomic(&tech_file, format!("{text}\n").as_bytes())?;
        ui.result(format_args!("wrote {}", shown(&tech_file, &context.dir)));
        if let Some(command) = &tech.test_command {
            ui.status(format_args!("tests run with: {}", planex_core::text::one_line(command)));
        }
    }
    if setup.project.exclude_workflow(&context.env)? {
        ui.result("added .workflow/ to .git/info/exclude");
    }
    ui.status("next: `planex doctor`, then `planex waves \"…\"`");
    Ok(Exit::Done)
}

/// A `planex.toml` in which everything is explained and nothing is set.
fn skeleton() -> String {
    let mut text =
        "# planex: settings of this project. Everything is optional; `planex config show` prints what is in force.\n\
                    # Parts that run a command or widen what agents may do need `planex trust` on each machine.\n"
            .to_owned();
    let mut table = String::new();
    for key in KEYS {
        let (parent, name) = key.name.rsplit_once('.').unwrap_or(("", key.name));
        let parent = parent.replace("roles.*", "roles.execute").replace("agents.*", "agents.mine");
        if parent != table {
            text.push_str(&format!("\n# [{parent}]\n"));
            table = parent;
        }
        text.push_str(&format!("# {name} = …    # {}; expected {}\n", key.meaning, key.kind.expected()));
    }
    text
}

#[cfg(test)]
mod tests {
    use planex_core::settings::file::{Source, parse};

    #[test]
    fn the_skeleton_sets_nothing_and_names_every_key() {
        let text = super::skeleton();
        assert_eq!(parse(Source { file: "planex.toml", text: &text }), Ok(Vec::new()));
        for key in super::KEYS {
            let name = key.name.rsplit('.').next().unwrap();
            assert!(text.contains(&format!("# {name} = ")), "{name}");
        }
    }
}
