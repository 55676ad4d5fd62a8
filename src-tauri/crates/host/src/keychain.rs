//! Where passwords lie: in the system's keychain where the desktop has one that answers, else each in a file of its own in
//! the data folder, which only its owner may read.
//!
//! Which of the two it was stands with the connection, so that a program without a keychain says what it lacks and does
//! not look in the wrong place. A keychain that answered and then refused is not gone around: a person who said no to
//! its question does not want the password in a file.

use std::fs;
use std::io::{self, ErrorKind, Write as _};
use std::path::PathBuf;

use campanile_model::connection::{Keeper, Kept};

pub struct Vault {
    folder: PathBuf,
    /// Whether new passwords go to the keychain where there is one.
    keychain: bool,
}

impl Vault {
    pub fn new(folder: PathBuf, keychain: bool) -> Vault {
        Vault { folder, keychain }
    }

    /// What would hold a password that is given now.
    pub async fn keeper(&self) -> Keeper {
        if self.keychain && system::answers().await { Keeper::Keychain } else { Keeper::File }
    }

    pub async fn keep(&self, connection: &str, password: &str) -> Result<Kept, String> {
        let drawn: [u8; 16] = rand::random();
        let slot: String = drawn.iter().map(|byte| format!("{byte:02x}")).collect();
        let keeper = self.keeper().await;
        match keeper {
            Keeper::Keychain => system::keep(slot.clone(), connection.to_owned(), password.to_owned()).await?,
            Keeper::File => self.write(&slot, password).map_err(|error| self.trouble(&error))?,
        }
        Ok(Kept { keeper, slot })
    }

    pub async fn read(&self, kept: &Kept) -> Result<String, String> {
        match kept.keeper {
            Keeper::Keychain => system::read(kept.slot.clone()).await,
            Keeper::File => {
                let path = self.path(&kept.slot).map_err(|error| self.trouble(&error))?;
                private(&path).and_then(|()| fs::read_to_string(&path)).map_err(|error| self.trouble(&error))
            }
        }
    }

    pub async fn forget(&self, kept: &Kept) -> Result<(), String> {
        match kept.keeper {
            Keeper::Keychain => system::forget(kept.slot.clone()).await,
            Keeper::File => match self.path(&kept.slot).and_then(fs::remove_file) {
                Err(error) if error.kind() != ErrorKind::NotFound => Err(self.trouble(&error)),
                _ => Ok(()),
            },
        }
    }

    fn write(&self, slot: &str, password: &str) -> io::Result<()> {
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
        folder.create(&self.folder)?;
        let mut file = file.open(self.path(slot)?)?;
        file.write_all(password.as_bytes())?;
        // The setting that points here will be on the disk; this has to be, too.
        file.sync_all()
    }

    fn path(&self, slot: &str) -> io::Result<PathBuf> {
        if slot.is_empty() || !slot.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(io::Error::new(ErrorKind::InvalidInput, "it is not the name of a slot"));
        }
        Ok(self.folder.join(slot))
    }

    fn trouble(&self, error: &io::Error) -> String {
        format!("{}: {error}", self.folder.display())
    }
}

/// Refuses a file that others may read.
pub fn private(path: &std::path::Path) -> io::Result<()> {
    let metadata = fs::metadata(path)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        if metadata.permissions().mode() & 0o077 != 0 {
            return Err(io::Error::new(ErrorKind::PermissionDenied, "others may read it; make it 0600"));
        }
    }
    #[cfg(not(unix))]
    let _ = metadata;
    Ok(())
}

/// The Secret Service of the session: GNOME's keyring, KDE's wallet, KeePassXC.
#[cfg(target_os = "linux")]
mod system {
    use std::collections::HashMap;
    use std::sync::Arc;
    use std::time::Duration;

    use keyring_core::api::CredentialStoreApi as _;
    use keyring_core::{Entry, Error};
    use zbus_secret_service_keyring_store::Store;

    const SERVICE: &str = "campanile";

    /// Whether there is one is known within this.
    const ANSWERS_WITHIN: Duration = Duration::from_secs(2);

    /// A locked one asks the person first.
    const UNLOCKED_WITHIN: Duration = Duration::from_secs(60);

    pub async fn answers() -> bool {
        asked(ANSWERS_WITHIN, |_| Ok(())).await.is_ok()
    }

    pub async fn keep(slot: String, connection: String, password: String) -> Result<(), String> {
        asked(UNLOCKED_WITHIN, move |store| {
            let label = format!("Campanile: {connection}");
            let modifiers = HashMap::from([("label", label.as_str())]);
            store.build(SERVICE, &slot, Some(&modifiers))?.set_password(&password)
        })
        .await
    }

    pub async fn read(slot: String) -> Result<String, String> {
        asked(UNLOCKED_WITHIN, move |store| entry(store, &slot)?.get_password()).await
    }

    pub async fn forget(slot: String) -> Result<(), String> {
        asked(UNLOCKED_WITHIN, move |store| match entry(store, &slot)?.delete_credential() {
            Err(Error::NoEntry) => Ok(()),
            outcome => outcome,
        })
        .await
    }

    fn entry(store: &Store, slot: &str) -> Result<Entry, Error> {
        store.build(SERVICE, slot, None)
    }

    /// On a thread of its own: the bus is waited for, and a person may be. Asked anew each time, because the keychain
    /// may have been started again.
    async fn asked<T: Send + 'static>(
        within: Duration,
        question: impl FnOnce(&Store) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, String> {
        let asking = tokio::task::spawn_blocking(move || {
            let store: Arc<Store> = Store::new()?;
            question(&store)
        });
        match tokio::time::timeout(within, asking).await {
            Ok(Ok(outcome)) => outcome.map_err(|error| said(&error)),
            Ok(Err(_)) => Err("the keychain's thread ended in a panic".to_owned()),
            Err(_) => Err(format!("the keychain did not answer in {} s", within.as_secs())),
        }
    }

    /// Errors about what was read carry what was read: those are named and not printed.
    fn said(error: &Error) -> String {
        match error {
            Error::NoEntry => "it is no longer in the keychain".to_owned(),
            Error::BadEncoding(_) | Error::BadDataFormat(..) => "what the keychain holds is not a text".to_owned(),
            Error::PlatformFailure(cause) | Error::NoStorageAccess(cause) => format!("the keychain says: {cause}"),
            other => format!("the keychain says: {other}"),
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    const NONE: &str = "this build does not speak to the keychain of this system";

    pub async fn answers() -> bool {
        false
    }

    pub async fn keep(_: String, _: String, _: String) -> Result<(), String> {
        Err(NONE.to_owned())
    }

    pub async fn read(_: String) -> Result<String, String> {
        Err(NONE.to_owned())
    }

    pub async fn forget(_: String) -> Result<(), String> {
        Err(NONE.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_password_in_a_file_is_for_its_owner_alone_and_goes_when_it_is_forgotten() {
        let folder = tempfile::tempdir().expect("a folder");
        let vault = Vault::new(folder.path().join("secrets"), false);
        let kept = vault.keep("orders", "a b:c%é\n").await.expect("it is kept");
        assert_eq!(kept.keeper, Keeper::File);
        assert_eq!(vault.read(&kept).await.as_deref(), Ok("a b:c%é\n"));
        let other = vault.keep("orders", "new").await.expect("it is kept");
        assert_ne!(kept.slot, other.slot, "the old one stays until it is forgotten");

        let path = folder.path().join("secrets").join(&kept.slot);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = |path: &std::path::Path| fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
            assert_eq!((mode(&path), mode(&folder.path().join("secrets"))), (0o600, 0o700));
            fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("ours");
            let refused = vault.read(&kept).await.expect_err("others may read it");
            assert!(refused.contains("0600"), "{refused}");
        }
        vault.forget(&kept).await.expect("it goes");
        assert!(!path.exists());
        vault.forget(&kept).await.expect("twice is once");
        assert_eq!(vault.read(&other).await.as_deref(), Ok("new"));
    }

    #[tokio::test]
    async fn a_slot_is_not_a_way_out_of_the_folder() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("file");
        fs::write(&file, "x").expect("a file");
        let vault = Vault::new(folder.path().join("secrets"), false);
        for slot in ["../file", "", "/etc/passwd"] {
            let kept = Kept { keeper: Keeper::File, slot: slot.to_owned() };
            assert!(vault.read(&kept).await.is_err(), "{slot}");
            assert!(vault.forget(&kept).await.is_err(), "{slot}");
        }
        assert!(file.exists());
    }
    #[tokio::test]
    async fn without_a_session_the_desktop_keeps_passwords_in_files() {
        let folder = tempfile::tempdir().expect("a folder");
        let vault = Vault::new(folder.path().join("secrets"), true);
        let kept = match vault.keeper().await {
            // Whoever runs this sits before a keychain of their own: it is left alone.
            Keeper::Keychain => return,
            Keeper::File => vault.keep("orders", "p").await.expect("it is kept"),
        };
        assert_eq!((kept.keeper, vault.read(&kept).await), (Keeper::File, Ok("p".to_owned())));
        // One that lies in a keychain is not looked for elsewhere.
        let elsewhere = Kept { keeper: Keeper::Keychain, slot: kept.slot };
        assert!(vault.read(&elsewhere).await.expect_err("no keychain").contains("keychain"));
    }

    #[tokio::test]
    #[ignore = "needs a Secret Service that is unlocked: dbus-run-session with gnome-keyring-daemon --unlock"]
    async fn a_password_in_the_keychain_comes_back_and_goes() {
        let folder = tempfile::tempdir().expect("a folder");
        let vault = Vault::new(folder.path().join("secrets"), true);
        let kept = vault.keep("orders", "a b:c%é").await.expect("it is kept");
        assert_eq!(kept.keeper, Keeper::Keychain);
        assert_eq!(vault.read(&kept).await.as_deref(), Ok("a b:c%é"));
        assert!(!folder.path().join("secrets").exists(), "nothing of it is in a file");
        vault.forget(&kept).await.expect("it goes");
        assert_eq!(vault.read(&kept).await, Err("it is no longer in the keychain".to_owned()));
        vault.forget(&kept).await.expect("twice is once");
    }
}
