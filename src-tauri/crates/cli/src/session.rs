//! One command's conversation with a data folder.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use campanile_api::views::GivenFile;
use campanile_api::{CallContext, Lang as ApiLang};
use campanile_host::config::Config;
use campanile_host::{Host, Options, Pieces, Wanted, Who};
use campanile_model::{Code, Fault, Words};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::said::{Lang, Table};

pub struct Session {
    host: Host,
    cx: CallContext,
    pub lang: Lang,
    json: bool,
}

impl Session {
    pub async fn open(data: PathBuf, config: &Config, zone: String, json: bool, lang: Lang) -> Result<Session, Fault> {
        let host = Host::open_as(Options { data, who: Who::Command }, config).await?;
        let cx = CallContext {
            who: host.person().clone(),
            zone,
            lang: match lang {
                Lang::En => ApiLang::En,
                Lang::Zh => ApiLang::Zh,
            },
        };
        Ok(Session { host, cx, lang, json })
    }

    pub async fn close(self) {
        self.host.close().await;
    }

    pub fn zone(&self) -> &str {
        &self.cx.zone
    }

    pub async fn ask<T: DeserializeOwned>(&self, operation: &str, input: Value) -> Result<T, Fault> {
        let answer = Box::pin(self.host.call(operation, input, &self.cx)).await?;
        serde_json::from_value(answer).map_err(|error| Code::BadRequest.fault().with("reason", error))
    }

    /// Asks, and writes the answer: as it came for programs, as a person reads it otherwise.
    pub async fn show<T: DeserializeOwned>(
        &self,
        operation: &str,
        input: Value,
        read: impl FnOnce(&T) -> String,
    ) -> Result<T, Fault> {
        let answer: Value = self.ask(operation, input).await?;
        let view: T =
            serde_json::from_value(answer.clone()).map_err(|error| Code::BadRequest.fault().with("reason", error))?;
        match self.json {
            true => write(&format!("{answer:#}\n")),
            false => write(&read(&view)),
        }
        Ok(view)
    }

    /// A file of this machine, under the name by which it is looked at and taken in.
    pub fn hand_in(&self, path: &Path) -> Result<GivenFile, Fault> {
        self.host.hand_in(path)
    }

    /// Whole, or not at all.
    pub async fn save(&self, wanted: &Wanted, path: &Path) -> Result<(), Fault> {
        campanile_host::save(&self.host, wanted, path, &self.cx).await
    }

    pub async fn pieces(&self, wanted: &Wanted) -> Result<Pieces, Fault> {
        wanted.pieces(&self.host, &self.cx).await
    }

    pub async fn next(&self, pieces: &mut Pieces) -> Result<Option<Vec<u8>>, Fault> {
        pieces.next(&self.host, &self.cx).await
    }

    pub fn is_for_programs(&self) -> bool {
        self.json
    }

    pub fn table(&self, head: &[(&str, &str)]) -> Table {
        Table::new(self.lang, head)
    }

    pub fn say<'a>(&self, en: &'a str, zh: &'a str) -> &'a str {
        self.lang.choose(en, zh)
    }
}

/// To the standard output; whoever reads it may have gone, and then there is nobody to tell.
pub fn write(text: &str) {
    let mut output = std::io::stdout().lock();
    if output.write_all(text.as_bytes()).and_then(|()| output.flush()).is_err() {
        std::process::exit(0);
    }
}

/// A file, or the standard input for `-`.
pub fn read(path: &Path) -> Result<String, Fault> {
    let mut bytes = Vec::new();
    let found = match path.as_os_str() == "-" {
        true => std::io::stdin().lock().read_to_end(&mut bytes).map(|_| ()),
        false => std::fs::read(path).map(|read| bytes = read),
    };
    let refused = |why: &str| {
        let reason = Words::new(
            format!("{} cannot be read: {why}", path.display()),
            format!("无法读取 {}：{why}", path.display()),
        );
        Code::BadRequest.fault().with_words("reason", &reason)
    };
    found.map_err(|error| refused(&error.to_string()))?;
    String::from_utf8(bytes).map_err(|_| refused("UTF-8"))
}
