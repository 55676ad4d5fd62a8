//! What is configured, and where each value comes from.

use campanile_host::config::Config;
use serde_json::json;

use crate::Answer;
use crate::said::{Lang, Table};
use crate::session::write;

pub fn show(config: &Config, json: bool, lang: Lang) -> Answer {
    let shown = config.shown();
    if json {
        let lines = shown.iter().map(|line| {
            json!({"key": line.key, "value": line.value, "origin": line.origin.to_string(), "about": line.about})
        });
        write(&format!("{:#}\n", lines.collect::<serde_json::Value>()));
        return Answer::Yes;
    }
    let head = [("key", "配置项"), ("value", "值"), ("from", "来源"), ("", "")];
    let mut table = Table::new(lang, &head);
    for line in shown {
        table.row(vec![
            line.key.to_owned(),
            line.value.unwrap_or_default(),
            line.origin.to_string(),
            lang.choose(&line.about.en, &line.about.zh).to_owned(),
        ]);
    }
    write(&table.text());
    Answer::Yes
}
