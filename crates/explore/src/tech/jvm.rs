//! Maven and Gradle.

use std::sync::LazyLock;

use planex_core::tech::TechModule;
use regex::Regex;

use super::facts::Facts;
use super::manifest::{Tree, folder_name, folder_of, inside, quoted};

static ARTIFACT: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"<artifactId>\s*([^<\s]+)\s*</artifactId>").ok());
static PARENT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?s)<(parent|dependencyManagement|build|profiles)>.*?</(?:parent|dependencyManagement|build|profiles)>",
    )
    .ok()
});
static PROJECT: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"project\(\s*(?:path\s*[:=]\s*)?["']:([\w:.\-]+)["']"#).ok());

/// Reads `pom.xml` and `build.gradle(.kts)`.
pub(super) fn read(tree: &Tree<'_>, facts: &mut Facts) {
    maven(tree, facts);
    gradle(tree, facts);
}

fn language(tree: &Tree<'_>, folder: &str) -> String {
    let kotlin = tree.paths().any(|p| p.ends_with(".kt") && inside(p, folder).is_some());
    let java = tree.paths().any(|p| p.ends_with(".java") && inside(p, folder).is_some());
    if kotlin && !java { "Kotlin" } else { "Java" }.to_owned()
}

fn maven(tree: &Tree<'_>, facts: &mut Facts) {
    let poms: Vec<(&str, Vec<String>, String)> =
        tree.named("pom.xml").into_iter().filter_map(|p| pom(folder_of(p), &tree.read(p)?)).collect();
    if poms.is_empty() {
        return;
    }
    let maven = if tree.has("mvnw") { "./mvnw" } else { "mvn" };
    let root = poms.iter().any(|(f, _, _)| *f == ".");
    facts.build(
        "maven",
        root.then_some(if maven == "mvn" { "mvn -q -DskipTests package" } else { "./mvnw -q -DskipTests package" }),
    );
    let own: Vec<&String> = poms.iter().filter_map(|(_, ids, _)| ids.first()).collect();
    for (folder, ids, text) in &poms {
        java_frameworks(facts, text);
        let command = match (*folder, root) {
            (".", _) => format!("{maven} test"),
            (folder, true) => format!("{maven} -pl {} -am test", quoted(folder)),
            (folder, false) => format!("{maven} -f {} test", quoted(folder)),
        };
        let name = ids.first().cloned().unwrap_or_else(|| folder_name(folder, "maven").to_owned());
        let depends_on = ids.iter().skip(1).filter(|id| own.contains(id) && **id != name).cloned().collect();
        let module = TechModule {
            name,
            path: (*folder).to_owned(),
            language: language(tree, folder),
            test_command: Some(command),
            depends_on,
        };
        facts.module(module, String::new());
    }
}

/// Folder, own artifact id and those of the dependencies, text.
fn pom<'p>(folder: &'p str, text: &str) -> Option<(&'p str, Vec<String>, String)> {
    let bare = LazyLock::force(&PARENT).as_ref()?.replace_all(text, "").into_owned();
    let ids = LazyLock::force(&ARTIFACT)
        .as_ref()?
        .captures_iter(&bare)
        .filter_map(|c| Some(c.get(1)?.as_str().to_owned()))
        .collect();
    Some((folder, ids, text.to_owned()))
}

fn java_frameworks(facts: &mut Facts, text: &str) {
    for (mark, name) in [
        ("spring-boot", "Spring Boot"),
        ("quarkus", "Quarkus"),
        ("micronaut", "Micronaut"),
        ("ktor", "Ktor"),
        ("com.android", "Android"),
    ] {
        if text.contains(mark) {
            Facts::add(&mut facts.frameworks, name);
        }
    }
    for (mark, name) in [("junit", "JUnit"), ("testng", "TestNG"), ("kotest", "Kotest"), ("spock", "Spock")] {
        if text.contains(mark) {
            Facts::add(&mut facts.test_framework, name);
        }
    }
}

fn gradle(tree: &Tree<'_>, facts: &mut Facts) {
    let mut files = tree.named("build.gradle");
    files.extend(tree.named("build.gradle.kts"));
    if files.is_empty() {
        return;
    }
    let gradle = if tree.has("gradlew") { "./gradlew" } else { "gradle" };
    facts.build("gradle", Some(if gradle == "gradle" { "gradle assemble" } else { "./gradlew assemble" }));
    for path in files {
        let folder = folder_of(path);
        let text = tree.read(path).unwrap_or_default();
        java_frameworks(facts, &text);
        let task = if folder == "." { "test".to_owned() } else { format!(":{}:test", folder.replace('/', ":")) };
        let found = LazyLock::force(&PROJECT).as_ref().map(|r| {
            r.captures_iter(&text).filter_map(|c| Some(c.get(1)?.as_str().replace(':', "/"))).collect::<Vec<_>>()
        });
        let depends_on = found.unwrap_or_default().iter().map(|p| folder_name(p, "root").to_owned()).collect();
        let module = TechModule {
            name: folder_name(folder, "gradle").to_owned(),
            path: folder.to_owned(),
            language: language(tree, folder),
            test_command: Some(format!("{gradle} {}", quoted(&task))),
            depends_on,
        };
        facts.module(module, String::new());
    }
}
