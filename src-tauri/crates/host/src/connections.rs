//! Named connections for `sql`: those of the executor's configuration, `connections.json` in the data folder
//!
//! ```json
//! {"orders": "mysql://report:secret@10.0.0.5/orders", "local": "sqlite:/var/lib/app.db"}
//! ```
//!
//! and those that people define in Settings, whose address is a setting and whose password is in the vault. Where both
//! have a name, the configuration's is meant: whoever runs a server has the last word.
//!
//! Both are read each time one is wanted, so that a change needs no restart. The file holds passwords: whoever may read
//! it may use them, and a file that others may read is refused.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use campanile_api::{Password, Tried};
use campanile_model::connection::{CONNECTION_SETTING, Connection, Keeper, Kept, Secret};
use campanile_model::{Code, Fault};
use campanile_processors::{CHECK_WITHIN, Connections, Obstacle, check_connection};
use campanile_store::Store;

use crate::keychain::{Vault, private};

#[derive(Clone)]
pub struct NamedConnections(Arc<Inner>);

struct Inner {
    /// The executor's configuration.
    file: PathBuf,
    store: Arc<dyn Store>,
    vault: Vault,
}

impl NamedConnections {
    pub fn new(file: PathBuf, store: Arc<dyn Store>, vault: Vault) -> NamedConnections {
        NamedConnections(Arc::new(Inner { file, store, vault }))
    }

    async fn of_configuration(&self) -> Result<BTreeMap<String, String>, String> {
        let file = &self.0.file;
        let trouble = |error: &dyn std::fmt::Display| format!("{}: {error}", file.display());
        let text = match tokio::fs::read_to_string(file).await {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(BTreeMap::new()),
            Err(error) => return Err(trouble(&error)),
        };
        private(file).map_err(|error| trouble(&error))?;
        serde_json::from_str(&text).map_err(|error| {
            // Of what stands in the file nothing is repeated: it holds passwords.
            trouble(&format!("line {}, column {}: not an object of names and addresses", error.line(), error.column()))
        })
    }

    async fn of_settings(&self, name: &str) -> Result<Option<String>, String> {
        let value = self.0.store.setting(&format!("{CONNECTION_SETTING}{name}")).await;
        let Some(value) = value.map_err(|error| error.to_string())? else { return Ok(None) };
        let connection: Option<Connection> = serde_json::from_value(value).map_err(|error| error.to_string())?;
        let Some(connection) = connection else { return Ok(None) };
        let password = match &connection.password {
            Some(kept) => Some(self.0.vault.read(kept).await?),
            None => None,
        };
        Ok(Some(connection.address.url(password.as_deref())))
    }
}

#[async_trait]
impl Connections for NamedConnections {
    async fn url(&self, name: &str) -> Result<Option<String>, String> {
        match self.of_configuration().await?.remove(name) {
            Some(url) => Ok(Some(url)),
            None => self.of_settings(name).await,
        }
    }
}

#[async_trait]
impl campanile_api::Connections for NamedConnections {
    async fn configured(&self) -> Result<Vec<(String, String)>, Fault> {
        let connections = self.of_configuration().await.map_err(|reason| {
            // A list that is not all there would offer to take names that are taken.
            Code::BadRequest.fault().with("reason", reason)
        })?;
        let kind = |url: &str| match url.split(':').next() {
            Some("mysql" | "mariadb") => "mysql",
            Some("sqlite") => "sqlite",
            Some("postgres" | "postgresql") => "postgres",
            _ => "",
        };
        Ok(connections.into_iter().map(|(name, url)| (name, kind(&url).to_owned())).collect())
    }

    async fn keeper(&self) -> Keeper {
        self.0.vault.keeper().await
    }

    async fn keep(&self, connection: &str, password: &Secret) -> Result<Kept, Fault> {
        self.0.vault.keep(connection, &password.0).await.map_err(|reason| out_of_reach(connection, &reason))
    }

    async fn forget(&self, kept: &Kept) {
        if let Err(reason) = self.0.vault.forget(kept).await {
            tracing::warn!(reason, "a password that nothing points to any more could not be taken away");
        }
    }

    async fn test(&self, connection: &str, tried: Tried) -> Result<String, Fault> {
        let url = match tried {
            Tried::Defined => self
                .url(connection)
                .await
                .map_err(|reason| out_of_reach(connection, &reason))?
                .ok_or_else(|| Code::ConnectionUnknown.fault().with("connection", connection))?,
            Tried::Given { address, password: Password::None } => address.url(None),
            Tried::Given { address, password: Password::Given(secret) } => address.url(Some(&secret.0)),
            Tried::Given { address, password: Password::Kept(kept) } => {
                let password = self.0.vault.read(&kept).await;
                address.url(Some(&password.map_err(|reason| out_of_reach(connection, &reason))?))
            }
        };
        check_connection(&url).await.map_err(|obstacle| fault(connection, &obstacle))
    }
}

fn out_of_reach(connection: &str, reason: &str) -> Fault {
    Code::SecretUnavailable.fault().with("connection", connection).with("reason", reason)
}

fn fault(connection: &str, obstacle: &Obstacle) -> Fault {
    match obstacle {
        Obstacle::HostUnknown { host, detail } => {
            Code::HostUnknown.fault().with("host", host).with("detail", detail).at("host")
        }
        Obstacle::Refused { address, detail } => {
            Code::ConnectionRefused.fault().with("address", address).with("detail", detail).at("port")
        }
        Obstacle::Silent { address } => {
            Code::DatabaseSilent.fault().with("address", address).with("seconds", CHECK_WITHIN.as_secs()).at("host")
        }
        Obstacle::LoginRefused { user, detail } => {
            Code::LoginRefused.fault().with("user", user).with("detail", detail).at("user")
        }
        Obstacle::DatabaseMissing { database, detail } => {
            Code::DatabaseMissing.fault().with("database", database).with("detail", detail).at("database")
        }
        Obstacle::Other { detail } => {
            Code::DatabaseUnreachable.fault().with("connection", connection).with("detail", detail)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use campanile_store_sqlite::SqliteStore;

    use super::*;

    #[cfg(unix)]
    #[tokio::test]
    async fn a_connection_is_found_by_its_name_in_a_private_file() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("connections.json");
        let store = Arc::new(SqliteStore::open(&folder.path().join("campanile.db")).await.expect("a store"));
        let vault = Vault::new(folder.path().join("secrets"), false);
        let connections = NamedConnections::new(path.clone(), store.clone(), vault);
        assert_eq!(connections.url("orders").await, Ok(None), "no file, no connections");

        fs::write(&path, r#"{"orders": "sqlite:/tmp/orders.db"}"#).expect("a file");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("ours");
        assert!(connections.url("orders").await.expect_err("others may read it").contains("0600"));

        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("ours");
        assert_eq!(connections.url("orders").await, Ok(Some("sqlite:/tmp/orders.db".to_owned())));
        assert_eq!(connections.url("other").await, Ok(None));

        fs::write(&path, r#"{"orders": ["mysql://u:s3cret@h/d"]}"#).expect("a file");
        let said = connections.url("orders").await.expect_err("an error is said, not swallowed");
        assert!(said.contains("line 1") && !said.contains("s3cret"), "{said}");
        store.close().await.expect("it closes");
    }
}
