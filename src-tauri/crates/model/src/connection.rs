//! Named connections: what jobs call a database by, without knowing its address or password.
//!
//! The address is kept with the settings, for all to see. The password never is: it lies in a
//! keychain or a private file at the executor, and here there is only where to look for it.

use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{Code, Fault, Words};

/// The settings that hold connections begin with this; their name follows.
pub const CONNECTION_SETTING: &str = "connection:";

const MOST_CHARACTERS: usize = 64;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum Address {
    Mysql(Server),
    Postgres(Server),
    /// A file on the executor's machine.
    Sqlite {
        path: String,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Server {
    pub host: String,
    /// The usual one of the kind where absent.
    pub port: Option<u16>,
    /// The server's own choice where empty.
    #[serde(default)]
    pub database: String,
    pub user: String,
}

/// What holds a password.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum Keeper {
    /// The keychain of the system.
    Keychain,
    /// A file in the data folder that only its owner may read.
    File,
}

/// A password's place. Each password that is set gets a slot of its own, so that the old one is good until the
/// connection points to the new.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    pub keeper: Keeper,
    pub slot: String,
}

/// As the setting holds it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Connection {
    pub address: Address,
    pub password: Option<Kept>,
}

/// A password on its way; it is not shown where it is printed.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(transparent)]
#[ts(as = "String")]
pub struct Secret(pub String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

pub fn check_name(name: &str) -> Result<(), Fault> {
    let characters = name.chars().count();
    if characters == 0 || name.trim() != name || name.chars().any(char::is_control) {
        return Err(wrong(
            "name",
            "a connection needs a name, without spaces around it",
            "连接需要名称，且首尾不能有空格",
        ));
    }
    if characters > MOST_CHARACTERS {
        return Err(wrong("name", "the name may have 64 characters", "名称最多 64 个字符"));
    }
    Ok(())
}

fn wrong(field: &str, en: &str, zh: &str) -> Fault {
    Code::BadRequest.fault().with_words("reason", &Words::new(en, zh)).at(field)
}

impl Address {
    pub fn check(&self) -> Result<(), Fault> {
        match self {
            Address::Mysql(server) | Address::Postgres(server) => server.check(),
            Address::Sqlite { path } if !Path::new(path).is_absolute() => {
                Err(wrong("path", "the file needs its whole path, from the root on", "请填写文件的完整（绝对）路径"))
            }
            Address::Sqlite { .. } => Ok(()),
        }
    }

    /// Whether a password that was given for `other` may be sent here: a password is not to be had by pointing its
    /// connection to a server of one's own.
    pub fn same_login(&self, other: &Address) -> bool {
        match (self, other) {
            (Address::Mysql(one), Address::Mysql(two)) | (Address::Postgres(one), Address::Postgres(two)) => {
                one.host == two.host && self.port() == other.port() && one.user == two.user
            }
            _ => false,
        }
    }

    fn port(&self) -> Option<u16> {
        match self {
            Address::Mysql(server) => Some(server.port.unwrap_or(3306)),
            Address::Postgres(server) => Some(server.port.unwrap_or(5432)),
            Address::Sqlite { .. } => None,
        }
    }

    /// What the `sql` processor connects to. Everything in it that could be taken for a part of the address is
    /// percent-encoded.
    pub fn url(&self, password: Option<&str>) -> String {
        let (scheme, server) = match self {
            Address::Mysql(server) => ("mysql", server),
            Address::Postgres(server) => ("postgres", server),
            Address::Sqlite { path } => {
                // Two slashes at the beginning would be taken for those of an address.
                let path =
                    if path.starts_with("//") { format!("/{}", path.trim_start_matches('/')) } else { path.clone() };
                return format!("sqlite:{}", encoded(&path, b"/"));
            }
        };
        let password = password.map(|password| format!(":{}", encoded(password, b""))).unwrap_or_default();
        let host = if server.host.contains(':') { format!("[{}]", server.host) } else { server.host.clone() };
        let port = self.port().map(|port| format!(":{port}")).unwrap_or_default();
        format!("{scheme}://{}{password}@{host}{port}/{}", encoded(&server.user, b""), encoded(&server.database, b""))
    }
}

impl Server {
    fn check(&self) -> Result<(), Fault> {
        let named = !self.host.is_empty()
            && self.host.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_'));
        if !named && self.host.parse::<std::net::Ipv6Addr>().is_err() {
            return Err(wrong("host", "this is not a host's name or address", "这不是有效的主机名或地址"));
        }
        if self.port == Some(0) {
            return Err(wrong("port", "a port is 1 to 65535", "端口应为 1 到 65535"));
        }
        if self.user.is_empty() {
            return Err(wrong("user", "the login needs a user", "登录需要用户名"));
        }
        Ok(())
    }
}

fn encoded(text: &str, plain: &[u8]) -> String {
    let mut url = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) || plain.contains(&byte) {
            url.push(char::from(byte));
        } else {
            url.push_str(&format!("%{byte:02X}"));
        }
    }
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(host: &str, port: Option<u16>) -> Server {
        Server { host: host.to_owned(), port, database: "orders".to_owned(), user: "report".to_owned() }
    }

    #[test]
    fn nothing_in_a_password_is_taken_for_a_part_of_the_address() {
        let url = |password| Address::Mysql(server("db", None)).url(password);
        assert_eq!(url(None), "mysql://report@db:3306/orders");
        assert_eq!(
            url(Some("a@b:c/d?e#f%g 中")),
            "mysql://report:a%40b%3Ac%2Fd%3Fe%23f%25g%20%E4%B8%AD@db:3306/orders"
        );
        assert_eq!(url(Some("plain-._~")), "mysql://report:plain-._~@db:3306/orders");
        assert_eq!(Address::Postgres(server("::1", Some(7))).url(None), "postgres://report@[::1]:7/orders");
        let file = |path: &str| Address::Sqlite { path: path.to_owned() }.url(None);
        assert_eq!(file("/var/a b?.db"), "sqlite:/var/a%20b%3F.db");
        assert_eq!(file("//var/a.db"), "sqlite:/var/a.db");
    }

    #[test]
    fn what_is_wrong_with_a_connection_is_said_with_its_field() {
        let refused = |address: Address| address.check().expect_err("refused").field;
        assert_eq!(refused(Address::Mysql(server("", None))).as_deref(), Some("host"));
        assert_eq!(refused(Address::Mysql(server("evil/@host", None))).as_deref(), Some("host"));
        assert_eq!(refused(Address::Mysql(server("db", Some(0)))).as_deref(), Some("port"));
        assert_eq!(
            refused(Address::Mysql(Server { user: String::new(), ..server("db", None) })).as_deref(),
            Some("user")
        );
        assert_eq!(refused(Address::Sqlite { path: "orders.db".to_owned() }).as_deref(), Some("path"));
        for host in ["db-1.example.com", "10.0.0.5", "fe80::1"] {
            assert_eq!(Address::Postgres(server(host, None)).check(), Ok(()));
        }
        assert_eq!(check_name(&"订".repeat(64)), Ok(()));
        for name in ["", " a", "a\n", &"a".repeat(65)] {
            assert_eq!(check_name(name).expect_err(name).field.as_deref(), Some("name"));
        }
    }

    #[test]
    fn a_password_goes_along_only_with_the_login_it_was_given_for() {
        let kept_for = Address::Mysql(server("db", None));
        assert!(Address::Mysql(server("db", Some(3306))).same_login(&kept_for));
        assert!(Address::Mysql(Server { database: "other".to_owned(), ..server("db", None) }).same_login(&kept_for));
        assert!(!Address::Mysql(server("elsewhere", None)).same_login(&kept_for));
        assert!(!Address::Postgres(server("db", Some(3306))).same_login(&kept_for));
    }

    #[test]
    fn a_secret_is_not_printed() {
        assert!(!format!("{:?}", Secret("s3cret".to_owned())).contains("s3cret"));
    }
}
