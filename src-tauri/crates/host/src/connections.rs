//! Named connections for `sql`, out of `connections.json` in the data folder:
//!
//! ```json
//! {"orders": "mysql://report:secret@10.0.0.5/orders", "local": "sqlite:/var/lib/app.db"}
//! ```
//!
//! Read each time one is wanted, so that a change needs no restart. The file holds passwords:
//! whoever may read it may use them, and a file that others may read is refused.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::PathBuf;

use async_trait::async_trait;
use campanile_processors::Connections;

pub struct FileConnections {
    path: PathBuf,
}

impl FileConnections {
    pub fn new(path: PathBuf) -> FileConnections {
        FileConnections { path }
    }

    fn check_privacy(&self) -> Result<(), String> {
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = std::fs::metadata(&self.path).map_err(|error| self.trouble(&error))?.permissions().mode();
            if mode & 0o077 != 0 {
                return Err(format!("{} may be read by others; make it 0600", self.path.display()));
            }
        }
        Ok(())
    }

    fn trouble(&self, error: &dyn std::fmt::Display) -> String {
        format!("{}: {error}", self.path.display())
    }
}

#[async_trait]
impl Connections for FileConnections {
    async fn url(&self, name: &str) -> Result<Option<String>, String> {
        let text = match tokio::fs::read_to_string(&self.path).await {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(self.trouble(&error)),
        };
        self.check_privacy()?;
        let connections: BTreeMap<String, String> =
            serde_json::from_str(&text).map_err(|error| self.trouble(&error))?;
        Ok(connections.get(name).cloned())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[cfg(unix)]
    #[tokio::test]
    async fn a_connection_is_found_by_its_name_in_a_private_file() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("connections.json");
        let connections = FileConnections::new(path.clone());
        assert_eq!(connections.url("orders").await, Ok(None), "no file, no connections");

        fs::write(&path, r#"{"orders": "sqlite:/tmp/orders.db"}"#).expect("a file");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("ours");
        assert!(connections.url("orders").await.expect_err("others may read it").contains("0600"));

        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("ours");
        assert_eq!(connections.url("orders").await, Ok(Some("sqlite:/tmp/orders.db".to_owned())));
        assert_eq!(connections.url("other").await, Ok(None));

        fs::write(&path, "{").expect("a file");
        assert!(connections.url("orders").await.is_err(), "an error is said, not swallowed");
    }
}
