//! What a node is told by its configuration: a file, over it the environment, over that the flags of its command line.
//!
//! Each value knows where it comes from. A key that nobody knows is refused with its place in the file, and what is a
//! secret is never repeated, in no message and in no log.

mod keys;

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

use campanile_model::{Code, Fault, Words};
use toml::de::{DeTable, DeValue};

pub use keys::{KEYS, Key, Kind, key_of};

use crate::folder::DataFolder;
use crate::keychain::private;

/// The file in a data folder that is read where no other is named.
pub const FILE: &str = "campanile.toml";

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    Default,
    File(PathBuf, usize),
    Variable(String),
    Flag(&'static str),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Default => f.write_str("default"),
            Origin::File(path, line) => write!(f, "{}:{line}", path.display()),
            Origin::Variable(name) => write!(f, "${name}"),
            Origin::Flag(name) => f.write_str(name),
        }
    }
}

#[derive(Clone)]
struct Value {
    text: String,
    origin: Origin,
}

/// One line of what is configured, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    pub key: &'static str,
    /// None: it is not set, and there is no default. A secret shows as dots.
    pub value: Option<String>,
    pub origin: Origin,
    pub about: Words,
}

#[derive(Clone, Default)]
pub struct Config {
    values: BTreeMap<&'static str, Value>,
}

/// Nothing of it: a secret may be among it.
impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.values.keys()).finish()
    }
}

/// What the command line says, by key and with the flag's name.
pub type Flags = Vec<(&'static str, &'static str, String)>;

fn refused(en: impl Into<String>, zh: impl Into<String>) -> Fault {
    Code::ConfigInvalid.fault().with_words("reason", &Words::new(en, zh))
}

impl Config {
    /// The file that was named, or else that of the data folder where there is one; the environment; the flags.
    pub fn read(
        named: Option<&Path>,
        flags: Flags,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Config, Fault> {
        let mut config = Config::default();
        let named = named.map(Path::to_owned).or_else(|| variable("CAMPANILE_CONFIG").map(PathBuf::from));
        match named {
            Some(file) => config.take_file(&file, true, &variable)?,
            None => {
                let said = flags.iter().find(|(key, ..)| *key == "data").map(|(_, _, text)| text.clone());
                let folder = said.or_else(|| variable("CAMPANILE_DATA")).map(PathBuf::from);
                let folder = folder.unwrap_or_else(DataFolder::default_path);
                config.take_file(&folder.join(FILE), false, &variable)?;
            }
        }
        for key in KEYS {
            let name = key.variable();
            if let Some(text) = variable(&name).filter(|text| !text.is_empty()) {
                config.put(key, text, Origin::Variable(name))?;
            }
        }
        for (name, flag, text) in flags {
            if let Some(key) = key_of(name) {
                config.put(key, text, Origin::Flag(flag))?;
            }
        }
        config.check()?;
        Ok(config)
    }

    fn take_file(
        &mut self,
        file: &Path,
        must_exist: bool,
        variable: &impl Fn(&str) -> Option<String>,
    ) -> Result<(), Fault> {
        let shown = file.display();
        let text = match fs::read_to_string(file) {
            Ok(text) => text,
            // What is wrong with a folder is said by whoever opens it.
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) && !must_exist => {
                return Ok(());
            }
            Err(error) => {
                return Err(refused(format!("{shown} cannot be read: {error}"), format!("无法读取 {shown}：{error}")));
            }
        };
        let at = |from: usize| {
            let before = text.get(..from).unwrap_or(&text);
            let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
            (before.matches('\n').count() + 1, column)
        };
        // Of what stands in the file nothing is repeated but names of keys: it may be a secret.
        let table = DeTable::parse(&text).map_err(|error| {
            let (line, column) = at(error.span().map_or(0, |span| span.start));
            refused(
                format!("{shown}, line {line}, column {column}: this is no TOML"),
                format!("{shown} 第 {line} 行第 {column} 列：不是有效的 TOML"),
            )
        })?;
        let mut found = Vec::new();
        flatten("", table.get_ref(), &mut found);
        for (name, from, value) in found {
            let (line, column) = at(from);
            let wrong = |en: &str, zh: &str| {
                refused(
                    format!("{shown}, line {line}, column {column}: {name}: {en}"),
                    format!("{shown} 第 {line} 行第 {column} 列：{name}：{zh}"),
                )
            };
            let (key, text) = match (key_of(&name), value) {
                (Some(key), Some(text)) => {
                    if key.kind == Kind::Secret {
                        private(file).map_err(|error| {
                            let said = format!("it holds a secret, and {error}");
                            wrong(&said, "含有密钥值，其他用户不得可读（请设为 0600）")
                        })?;
                    }
                    (key, text)
                }
                (Some(_), None) => return Err(wrong("it takes one value", "应为单个值")),
                (None, value) => {
                    let (whole, how) = name.rsplit_once('.').unwrap_or(("", ""));
                    let secret = key_of(whole).filter(|key| key.kind == Kind::Secret);
                    let Some((key, text)) = secret.zip(value) else {
                        return Err(wrong("there is no such key", "没有这个配置项"));
                    };
                    let read = match how {
                        "env" => variable(&text).ok_or_else(|| wrong("the variable is not set", "该环境变量未设置"))?,
                        "file" => {
                            let beside = file.parent().unwrap_or(Path::new(".")).join(&text);
                            let unread = |error: &std::io::Error| {
                                wrong(&format!("the file cannot be used: {error}"), &format!("无法使用该文件：{error}"))
                            };
                            private(&beside).map_err(|error| unread(&error))?;
                            fs::read_to_string(&beside).map_err(|error| unread(&error))?.trim().to_owned()
                        }
                        _ => return Err(wrong("there is no such key", "没有这个配置项")),
                    };
                    (key, read)
                }
            };
            self.put(key, text, Origin::File(file.to_owned(), line))?;
        }
        Ok(())
    }

    fn put(&mut self, key: &'static Key, text: String, origin: Origin) -> Result<(), Fault> {
        fits(key.kind, &text).map_err(|reason| {
            let name = key.name;
            refused(format!("{origin}: {name}: {}", reason.en), format!("{origin}：{name}：{}", reason.zh))
        })?;
        self.values.insert(key.name, Value { text, origin });
        Ok(())
    }

    /// What does not go together.
    fn check(&self) -> Result<(), Fault> {
        let set = |name| self.text(name).is_some();
        if set("executors.certificate") != set("executors.key") {
            return Err(refused(
                "executors.certificate and executors.key: one is no use without the other",
                "executors.certificate 与 executors.key 必须同时设置",
            ));
        }
        if set("http.certificate") != set("http.key") {
            return Err(refused(
                "http.certificate and http.key: one is no use without the other",
                "http.certificate 与 http.key 必须同时设置",
            ));
        }
        if self.ip("http.listen").is_some_and(|listens| listens.is_unspecified()) && !set("http.advertise") {
            return Err(refused(
                "http.listen is every address of the machine: http.advertise says which of them others use",
                "http.listen 为本机所有地址时，须用 http.advertise 指明他人访问的地址",
            ));
        }
        if let Some(url) = self.text("database.url")
            && !url.starts_with("mysql://")
        {
            return Err(refused("database.url: it is not a mysql:// address", "database.url：不是 mysql:// 地址"));
        }
        Ok(())
    }

    /// What holds for the key; none: nothing does.
    pub fn text(&self, name: &str) -> Option<&str> {
        let default = || key_of(name).map(|key| key.default);
        self.values.get(name).map(|value| value.text.as_str()).or_else(default).filter(|text| !text.is_empty())
    }

    pub fn path(&self, name: &str) -> Option<PathBuf> {
        self.text(name).map(PathBuf::from)
    }

    /// None: not set, and no default either.
    pub fn flag(&self, name: &str) -> Option<bool> {
        self.text(name).map(|text| text == "true")
    }

    pub fn number<N: std::str::FromStr>(&self, name: &str) -> Option<N> {
        self.text(name)?.parse().ok()
    }

    pub fn ip(&self, name: &str) -> Option<IpAddr> {
        self.text(name)?.parse().ok()
    }

    pub fn listen(&self, name: &str) -> Option<SocketAddr> {
        self.text(name)?.parse().ok()
    }

    /// Whether the node shares its database with others.
    pub fn in_team(&self) -> bool {
        self.text("database.url").is_some()
    }

    /// Every key, with its value and where that comes from.
    pub fn shown(&self) -> Vec<Shown> {
        let line = |key: &'static Key| {
            let hidden = |text: &str| {
                if key.kind == Kind::Secret { "••••••••".to_owned() } else { text.to_owned() }
            };
            Shown {
                key: key.name,
                value: self.text(key.name).map(hidden),
                origin: self.values.get(key.name).map_or(Origin::Default, |value| value.origin.clone()),
                about: key.words(),
            }
        };
        KEYS.iter().map(line).collect()
    }
}

/// Every value by its whole name, with where its key stands. None: a list, or something else that no key takes.
fn flatten(within: &str, table: &DeTable<'_>, found: &mut Vec<(String, usize, Option<String>)>) {
    for (key, value) in table {
        let name = if within.is_empty() { key.get_ref().to_string() } else { format!("{within}.{}", key.get_ref()) };
        let from = key.span().start;
        let text = match value.get_ref() {
            DeValue::Table(inner) => {
                flatten(&name, inner, found);
                continue;
            }
            DeValue::String(text) => Some(text.to_string()),
            DeValue::Integer(number) => Some(number.to_string()),
            DeValue::Boolean(flag) => Some(flag.to_string()),
            DeValue::Float(_) | DeValue::Datetime(_) | DeValue::Array(_) => None,
        };
        found.push((name, from, text));
    }
}

fn fits(kind: Kind, text: &str) -> Result<(), Words> {
    let ok = match kind {
        Kind::Text | Kind::Path | Kind::Secret => !text.is_empty(),
        Kind::Flag => matches!(text, "true" | "false"),
        Kind::Number(least, most) => text.parse::<u64>().is_ok_and(|number| (least..=most).contains(&number)),
        Kind::Address => text.parse::<IpAddr>().is_ok(),
        Kind::Listen => text.parse::<SocketAddr>().is_ok(),
        Kind::HostPort => text
            .rsplit_once(':')
            .is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok_and(|port| port > 0)),
    };
    if ok {
        return Ok(());
    }
    Err(match kind {
        Kind::Text | Kind::Path | Kind::Secret => Words::new("it is empty", "不能为空"),
        Kind::Flag => Words::new("it is neither true nor false", "应为 true 或 false"),
        Kind::Number(least, most) => Words::new(
            format!("it is no whole number from {least} to {most}"),
            format!("应为 {least} 到 {most} 的整数"),
        ),
        Kind::Address => {
            Words::new("it is no address, such as 10.0.0.5 or 0.0.0.0", "应为地址，如 10.0.0.5 或 0.0.0.0")
        }
        Kind::Listen => {
            Words::new("it is no address with a port, such as 0.0.0.0:4610", "应为带端口的地址，如 0.0.0.0:4610")
        }
        Kind::HostPort => Words::new("it is no host:port", "应为 主机:端口"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(text: &str, mode: u32, variables: &[(&str, &str)], flags: Flags) -> Result<Config, Fault> {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join(FILE);
        fs::write(&file, text).expect("written");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            fs::set_permissions(&file, fs::Permissions::from_mode(mode)).expect("ours");
        }
        let variable =
            |name: &str| variables.iter().find(|(other, _)| *other == name).map(|(_, text)| (*text).to_owned());
        Config::read(Some(&file), flags, variable)
    }

    #[test]
    fn flags_go_before_the_environment_that_before_the_file_and_it_before_the_default() {
        let text = "[http]\nport = 4000\n[node]\nname = \"a\"\n\n[executors]\nlisten = \"0.0.0.0:4610\"\n";
        let variables = [("CAMPANILE_NODE_NAME", "b"), ("CAMPANILE_EXECUTORS_LISTEN", "0.0.0.0:1")];
        let flags = vec![("executors.listen", "--executors", "127.0.0.1:7".to_owned())];
        let config = config(text, 0o644, &variables, flags).expect("it is right");
        let origin = |key| {
            let shown = config.shown().into_iter().find(|shown| shown.key == key).expect("a key");
            (shown.value.unwrap_or_default(), shown.origin)
        };
        assert_eq!(origin("executors.listen"), ("127.0.0.1:7".to_owned(), Origin::Flag("--executors")));
        assert_eq!(origin("node.name"), ("b".to_owned(), Origin::Variable("CAMPANILE_NODE_NAME".to_owned())));
        let (port, from) = origin("http.port");
        assert!(port == "4000" && matches!(from, Origin::File(_, 2)), "{from:?}");
        assert_eq!(origin("database.connections"), ("16".to_owned(), Origin::Default));
        assert_eq!(origin("data"), (String::new(), Origin::Default));
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_its_place_and_without_its_secrets() {
        for (text, mode, reason) in [
            ("[node]\n  colour = \"s3cret\"", 0o600, "line 2, column 3: node.colour: there is no such key"),
            ("[database]\nurl = \"mysql://u:s3cret@h/d\"", 0o644, "line 2, column 1: database.url: it holds a secret"),
            ("[database]\nurl = \"postgres://u:s3cret@h/d\"", 0o600, "database.url: it is not a mysql:// address"),
            ("[database]\nurl.env = \"NOBODY\"", 0o644, "database.url.env: the variable is not set"),
            ("[database]\nurl.vault = \"s3cret\"", 0o644, "database.url.vault: there is no such key"),
            ("[http]\nport = 70000", 0o644, "http.port: it is no whole number from 0 to 65535"),
            ("[http]\nlisten = \"here\"", 0o644, "http.listen: it is no address"),
            ("[http]\nlisten = \"0.0.0.0\"", 0o644, "http.advertise says which of them others use"),
            (
                "[http]\ncertificate = \"c.pem\"",
                0o644,
                "http.certificate and http.key: one is no use without the other",
            ),
            ("[http]\nport = [1]", 0o644, "line 2, column 1: http.port: it takes one value"),
            ("[executors]\nlisten = \"here\"", 0o644, "executors.listen: it is no address"),
            ("[executors]\nadvertise = \"here\"", 0o644, "executors.advertise: it is no host:port"),
            ("[executors]\nwithout_tls = \"yes\"", 0o644, "it is neither true nor false"),
            ("[executors]\nkey = \"k.pem\"", 0o644, "one is no use without the other"),
            ("s3cret", 0o644, "this is no TOML"),
        ] {
            let fault = config(text, mode, &[], Vec::new()).expect_err(text);
            let said = &fault.message.en;
            assert!(said.contains(reason) && !said.contains("s3cret"), "{text}: {said}");
        }
    }

    #[test]
    fn a_secret_comes_from_the_environment_or_a_file_and_is_not_shown() {
        let url = "mysql://u:s3cret@h/d";
        let text = "[database]\nurl = {env = \"DB\"}\n";
        let config = config(text, 0o644, &[("DB", url)], Vec::new()).expect("it is right");
        assert_eq!(config.text("database.url"), Some(url));
        assert!(config.in_team());
        let all = format!("{config:?} {:?}", config.shown());
        assert!(!all.contains("s3cret"), "{all}");
    }

    #[test]
    fn every_key_has_words_and_a_default_that_fits() {
        for key in KEYS {
            assert!(!key.words().en.is_empty() && !key.words().zh.is_empty(), "{}", key.name);
            assert!(key.default.is_empty() || fits(key.kind, key.default).is_ok(), "{}", key.name);
        }
    }
}
