//! The data folder: where it is, what lies in it, and what is said when it cannot be used.

use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use campanile_model::secret::to_hex;
use campanile_model::{Code, Fault};
use campanile_sdk::{KeyError, SecretKey};

/// Everything that belongs to one installation.
#[derive(Clone, Debug)]
pub struct DataFolder {
    root: PathBuf,
}

impl DataFolder {
    /// Where it is unless someone says otherwise.
    pub fn default_path() -> PathBuf {
        let from = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let base = if cfg!(windows) {
            from("APPDATA")
        } else if cfg!(target_os = "macos") {
            from("HOME").map(|home| home.join("Library/Application Support"))
        } else {
            from("XDG_DATA_HOME").or_else(|| from("HOME").map(|home| home.join(".local/share")))
        };
        base.unwrap_or_else(std::env::temp_dir).join("campanile")
    }

    /// Makes the folder where there is none.
    pub fn open(root: &Path) -> Result<DataFolder, Fault> {
        fs::create_dir_all(root).map_err(|error| fault(&error, root))?;
        let root = fs::canonicalize(root).map_err(|error| fault(&error, root))?;
        Ok(DataFolder { root })
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn database(&self) -> PathBuf {
        self.root.join("campanile.db")
    }

    /// What tasks and the program itself write.
    pub fn logs(&self) -> PathBuf {
        self.root.join("logs")
    }

    /// Which child processes run.
    pub fn children(&self) -> PathBuf {
        self.root.join("children")
    }

    pub fn scratch(&self) -> PathBuf {
        self.root.join("scratch")
    }

    /// Files that a browser sent.
    pub fn uploads(&self) -> PathBuf {
        self.root.join("uploads")
    }

    pub fn connections(&self) -> PathBuf {
        self.root.join("connections.json")
    }

    /// Teams that the console on this machine knows.
    pub fn teams(&self) -> PathBuf {
        self.root.join("teams.json")
    }

    /// What a console keeps on this machine while it looks at that team by its database.
    pub fn console(&self, team: &str) -> PathBuf {
        self.root.join("consoles").join(team)
    }

    /// Files that `import` may read where it may not read others.
    pub fn imports(&self) -> PathBuf {
        self.root.join("imports")
    }

    /// The tables of imports for which no connection is named.
    pub fn imported(&self) -> PathBuf {
        self.root.join("imports.db")
    }

    /// By which zone data times are planned here.
    pub fn zones(&self) -> PathBuf {
        self.root.join("zones")
    }

    /// Passwords that no keychain holds.
    pub fn secrets(&self) -> PathBuf {
        self.root.join("secrets")
    }

    /// What opens the secrets of the group `local`: in this folder, because every program that may host its executor,
    /// with a session or without, has to read it. Made when it is first wanted.
    pub fn executor_key(&self) -> Result<SecretKey, KeyError> {
        let path = self.secrets().join("executor.key");
        if !path.exists() {
            match make_key(&path) {
                // Another program was faster.
                Err(KeyError::Unreadable { source, .. }) if source.kind() == ErrorKind::AlreadyExists => {}
                made => return made,
            }
        }
        SecretKey::read(&path)
    }

    /// What this folder is known by among those of a team; drawn when it is first wanted.
    pub fn known_by(&self) -> Result<String, Fault> {
        let path = self.root.join("node-id");
        let kept = fs::read_to_string(&path).map(|text| text.trim().to_owned()).unwrap_or_default();
        if kept.len() >= 16 {
            return Ok(kept);
        }
        let drawn = format!("{:016x}", rand::random::<u64>());
        fs::write(&path, &drawn).map_err(|error| fault(&error, &self.root))?;
        Ok(drawn)
    }

    /// What opens the API to whoever may read this folder; made when it is first wanted.
    pub fn token(&self) -> Result<String, Fault> {
        let path = self.root.join("token");
        let kept = fs::read_to_string(&path).map(|text| text.trim().to_owned()).unwrap_or_default();
        if kept.len() >= 32 {
            return Ok(kept);
        }
        let drawn: [u8; 32] = rand::random();
        let token: String = drawn.iter().map(|byte| format!("{byte:02x}")).collect();
        write_private(&path, &token).map_err(|error| fault(&error, &self.root))?;
        Ok(token)
    }

    /// The certificate that the node made for itself, with its key.
    pub fn http_certificate(&self) -> PathBuf {
        self.root.join("http.pem")
    }

    /// A small number that is to stay the same, such as a port.
    pub(crate) fn kept_port(&self) -> Option<u16> {
        fs::read_to_string(self.root.join("health-port")).ok()?.trim().parse().ok()
    }

    pub(crate) fn keep_port(&self, port: u16) -> io::Result<()> {
        fs::write(self.root.join("health-port"), port.to_string())
    }
}

/// Draws a key for an executor group and writes it to a new file, for its owner alone. A file that is there stays.
pub fn make_key(path: &Path) -> Result<SecretKey, KeyError> {
    let key = SecretKey::generate();
    let text = format!(
        "# Opens the secrets of a Campanile executor group. Keep it where only its executors can read it.\n\
         # Public: {}\n{}\n",
        to_hex(&key.public()),
        key.to_hex()
    );
    let write = || {
        let mut folder = fs::DirBuilder::new();
        folder.recursive(true);
        let mut file = fs::OpenOptions::new();
        file.write(true).create_new(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
            folder.mode(0o700);
            file.mode(0o600);
        }
        if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            folder.create(parent)?;
        }
        let mut file = file.open(path)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()
    };
    write().map_err(|source| KeyError::Unreadable { path: path.display().to_string(), source })?;
    Ok(key)
}

/// Nobody else on the machine may read it.
pub(crate) fn write_private(path: &Path, text: &str) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    options.open(path)?.write_all(text.as_bytes())
}

/// What a person has to do about a folder that cannot be used.
pub(crate) fn fault(error: &io::Error, folder: &Path) -> Fault {
    match error.kind() {
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem | ErrorKind::NotADirectory => {
            Code::DataReadOnly.fault().with("folder", folder.display())
        }
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Code::DiskFull.fault(),
        _ => Code::StorageUnavailable.fault().with("reason", format!("{}: {error}", folder.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_token_stays_and_is_for_its_owner_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let data = DataFolder::open(&folder.path().join("deep/down")).expect("it is made");
        let token = data.token().expect("a token");
        assert_eq!(token.len(), 64);
        assert_eq!(data.token().expect("the same"), token);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = fs::metadata(data.root().join("token")).expect("a file").permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
    }

    #[test]
    fn the_key_of_the_own_executor_is_made_once_and_for_its_owner_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let data = DataFolder::open(folder.path()).expect("it is made");
        let key = data.executor_key().expect("a key");
        assert_eq!(data.executor_key().expect("the same").public(), key.public());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let path = data.secrets().join("executor.key");
            assert_eq!(fs::metadata(&path).expect("a file").permissions().mode() & 0o777, 0o600);
            fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("ours");
            assert!(matches!(data.executor_key(), Err(KeyError::OthersMayRead { .. })));
        }
    }

    #[test]
    fn a_folder_that_cannot_be_made_says_which_and_why() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("file");
        fs::write(&file, "").expect("a file");
        let fault = DataFolder::open(&file.join("data")).expect_err("a file is no folder");
        assert!(fault.is(Code::DataReadOnly), "{fault}");
        assert!(fault.message.en.contains("file/data"), "{fault}");
    }
}
