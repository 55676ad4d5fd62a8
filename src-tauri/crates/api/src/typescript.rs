//! The TypeScript of everything that crosses to the console, made from the Rust types themselves.
//!
//! A test compares it with the file that the console is built with, so that neither side can
//! change alone.

use std::any::TypeId;
use std::collections::{BTreeMap, HashSet};

use campanile_model::retention::Retention;
use serde::Serialize;
use ts_rs::{Config, TS, TypeVisitor};

pub(crate) struct Page {
    config: Config,
    seen: HashSet<TypeId>,
    /// By name.
    types: BTreeMap<String, String>,
    operations: Vec<String>,
    /// Rules that a form keeps to as well.
    values: Vec<String>,
}

impl Page {
    pub(crate) fn new() -> Page {
        Page {
            // JSON has one kind of number, and nothing here grows beyond what it can say.
            config: Config::new().with_large_int("number"),
            seen: HashSet::new(),
            types: BTreeMap::new(),
            operations: Vec::new(),
            values: Vec::new(),
        }
    }

    /// A value of a type that is there.
    fn value<T: TS + Serialize>(&mut self, name: &str, docs: &str, value: &T) {
        let json = serde_json::to_value(value).expect("our own types can be written");
        self.values.push(format!("/** {docs} */\nexport const {name}: {} = {json};\n", T::name(&self.config)));
    }

    /// One operation, with every type that its input and output are made of.
    pub(crate) fn operation<I: TS + 'static, O: TS + 'static>(&mut self, name: &str) {
        self.add::<I>();
        self.add::<O>();
        let (input, output) = (I::name(&self.config), O::name(&self.config));
        self.operations.push(format!("  {name}: {{ input: {input}; output: {output} }};\n"));
    }

    /// A type, and all that it is made of.
    pub(crate) fn add<T: TS + 'static + ?Sized>(&mut self) {
        if !self.seen.insert(TypeId::of::<T>()) {
            return;
        }
        // What has no place of its own (a number, a list) is written where it is used.
        if T::output_path().is_some() {
            let mut text = T::docs().unwrap_or_default();
            let declaration = format!("export {}", T::decl(&self.config));
            text.extend(declaration.lines().map(|line| format!("{}\n", line.trim_end())));
            let before = self.types.insert(T::ident(&self.config), text);
            assert!(before.is_none(), "two types are called {}", T::ident(&self.config));
        }
        T::visit_generics(self);
        T::visit_dependencies(self);
    }

    pub(crate) fn text(self) -> String {
        let mut text = String::from(
            "// Made from the Rust types by `make gen`; a test fails when it is stale. Not to be edited by hand.\n\n",
        );
        for declaration in self.types.values() {
            text.push_str(declaration);
            text.push('\n');
        }
        text.push_str("export interface Operations {\n");
        text.extend(self.operations);
        text.push_str("}\n");
        text.extend(self.values.into_iter().map(|value| format!("\n{value}")));
        text
    }
}

impl TypeVisitor for Page {
    fn visit<T: TS + 'static + ?Sized>(&mut self) {
        self.add::<T>();
    }
}

/// Everything that the console may ask, and every type that is part of it.
pub fn types() -> String {
    let mut page = Page::new();
    crate::operations::declare(&mut page);
    page.add::<crate::views::Frame>();
    page.add::<crate::views::GivenFile>();
    page.add::<crate::views::PlacesView>();
    page.add::<crate::views::PutTeam>();
    page.add::<crate::views::TeamNodeTried>();
    page.add::<campanile_model::Fault>();
    page.value("retentionMost", "The most that each can be; the least is 1.", &Retention::MOST);
    page.text()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    /// Compares a file of the tree with what the code makes of it, or writes it where that was asked.
    fn check(path: &str, fresh: &str) {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..").join(path);
        if std::env::var_os("CAMPANILE_GEN").is_some() {
            fs::write(&path, fresh).expect("the checkout can be written");
        }
        let found = fs::read_to_string(&path).unwrap_or_default();
        assert!(found == fresh, "{} is stale: run `make gen`", path.display());
    }

    #[test]
    fn generated_types_are_fresh() {
        check("ui/src/api/types.ts", &super::types());
    }

    #[test]
    fn generated_page_of_task_states_is_fresh() {
        check("docs/task-states.md", &campanile_model::task::state::page());
    }
}
