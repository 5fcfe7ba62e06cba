//! What the readers of manifests gather.

use planex_core::tech::TechModule;

/// Everything that was found, in the order in which it was found.
#[derive(Debug, Default)]
pub(super) struct Facts {
    /// Name that a manifest at the root gives.
    pub(super) name: Option<String>,
    pub(super) modules: Vec<Module>,
    pub(super) frameworks: Vec<String>,
    pub(super) build_system: Vec<String>,
    pub(super) test_framework: Vec<String>,
    pub(super) test_commands: Vec<String>,
    pub(super) build_commands: Vec<String>,
    pub(super) entry_points: Vec<String>,
}

/// A module and what its manifest says of it.
#[derive(Debug)]
pub(super) struct Module {
    pub(super) module: TechModule,
    pub(super) description: String,
}

impl Facts {
    pub(super) fn add(list: &mut Vec<String>, item: impl Into<String>) {
        let item = item.into();
        if !item.is_empty() && !list.contains(&item) {
            list.push(item);
        }
    }

    pub(super) fn build(&mut self, system: &str, command: Option<&str>) {
        Self::add(&mut self.build_system, system);
        if let Some(command) = command {
            Self::add(&mut self.build_commands, command);
        }
    }

    /// Adds a module; one at the root gives the project its name and test command.
    pub(super) fn module(&mut self, module: TechModule, description: String) {
        if module.path == "." {
            self.name.get_or_insert_with(|| module.name.clone());
            if let Some(command) = &module.test_command {
                Self::add(&mut self.test_commands, command.clone());
            }
        }
        self.modules.push(Module { module, description });
    }

    /// Frameworks that a list of dependencies names.
    pub(super) fn frameworks_of<'d>(&mut self, dependencies: impl Iterator<Item = &'d str>) {
        for dependency in dependencies {
            if let Some((_, name)) = FRAMEWORKS.iter().find(|(d, _)| *d == dependency) {
                Self::add(&mut self.frameworks, *name);
            }
            if let Some((_, name)) = TESTERS.iter().find(|(d, _)| *d == dependency) {
                Self::add(&mut self.test_framework, *name);
            }
        }
    }
}

const FRAMEWORKS: &[(&str, &str)] = &[
    ("react", "React"),
    ("next", "Next.js"),
    ("vue", "Vue"),
    ("nuxt", "Nuxt"),
    ("svelte", "Svelte"),
    ("@sveltejs/kit", "SvelteKit"),
    ("@angular/core", "Angular"),
    ("express", "Express"),
    ("fastify", "Fastify"),
    ("@nestjs/core", "NestJS"),
    ("hono", "Hono"),
    ("koa", "Koa"),
    ("electron", "Electron"),
    ("vite", "Vite"),
    ("webpack", "webpack"),
    ("tailwindcss", "Tailwind CSS"),
    ("prisma", "Prisma"),
    ("commander", "commander"),
    ("zod", "Zod"),
    ("socket.io", "Socket.IO"),
    ("react-native", "React Native"),
    ("@tauri-apps/api", "Tauri"),
    ("astro", "Astro"),
    ("ink", "Ink"),
    ("django", "Django"),
    ("flask", "Flask"),
    ("fastapi", "FastAPI"),
    ("sqlalchemy", "SQLAlchemy"),
    ("pydantic", "Pydantic"),
    ("click", "click"),
    ("typer", "Typer"),
    ("numpy", "NumPy"),
    ("scipy", "SciPy"),
    ("pandas", "pandas"),
    ("torch", "PyTorch"),
    ("celery", "Celery"),
    ("starlette", "Starlette"),
    ("tokio", "Tokio"),
    ("axum", "axum"),
    ("actix-web", "Actix Web"),
    ("clap", "clap"),
    ("serde", "Serde"),
    ("tauri", "Tauri"),
    ("bevy", "Bevy"),
    ("ratatui", "ratatui"),
    ("sqlx", "SQLx"),
    ("diesel", "Diesel"),
    ("rayon", "Rayon"),
    ("tree-sitter", "tree-sitter"),
    ("leptos", "Leptos"),
    ("github.com/spf13/cobra", "Cobra"),
    ("github.com/gin-gonic/gin", "Gin"),
    ("github.com/labstack/echo/v4", "Echo"),
    ("google.golang.org/grpc", "gRPC"),
    ("github.com/charmbracelet/bubbletea", "Bubble Tea"),
    ("gorm.io/gorm", "GORM"),
    ("github.com/go-chi/chi/v5", "chi"),
    ("k8s.io/client-go", "client-go"),
    ("rails", "Rails"),
    ("sinatra", "Sinatra"),
    ("laravel/framework", "Laravel"),
    ("symfony/framework-bundle", "Symfony"),
    ("symfony/console", "Symfony Console"),
];

const TESTERS: &[(&str, &str)] = &[
    ("vitest", "Vitest"),
    ("jest", "Jest"),
    ("mocha", "Mocha"),
    ("ava", "AVA"),
    ("@playwright/test", "Playwright"),
    ("cypress", "Cypress"),
    ("tap", "tap"),
    ("pytest", "pytest"),
    ("hypothesis", "Hypothesis"),
    ("insta", "insta"),
    ("proptest", "proptest"),
    ("assert_cmd", "assert_cmd"),
    ("criterion", "Criterion"),
    ("github.com/stretchr/testify", "testify"),
    ("rspec", "RSpec"),
    ("rspec-rails", "RSpec"),
    ("minitest", "minitest"),
    ("phpunit/phpunit", "PHPUnit"),
    ("pestphp/pest", "Pest"),
];
