//! Certificates for nodes and executors that have no authority of their own: one authority for a team, and what it
//! signs; and the one that a node makes for its console, which whoever comes knows by its fingerprint.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use campanile_model::{Code, Fault, Words};
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, date_time_ymd,
};

use crate::folder::write_private;

/// What `make` wrote.
#[derive(Debug)]
pub struct Made {
    pub files: Vec<PathBuf>,
    /// The authority was there already, and signed these too.
    pub by_old_authority: bool,
}

/// Writes `ca.pem`, `node.pem` and `executor.pem` with their keys into a folder. The node's certificate is for `hosts`,
/// names or addresses. An authority that is in the folder already is used again, so that those who know it know the
/// new certificates.
pub fn make(folder: &Path, hosts: &[String], executor: &str) -> Result<Made, Fault> {
    fs::create_dir_all(folder).map_err(|error| cannot_write(folder, &error))?;
    let (ca_path, ca_key_path) = (folder.join("ca.pem"), folder.join("ca-key.pem"));
    let by_old_authority = ca_path.exists();
    let mut files = Vec::new();
    let (ca, key) = match by_old_authority {
        true => {
            let read = |path: &Path| fs::read_to_string(path).map_err(|error| cannot_write(path, &error));
            let key = KeyPair::from_pem(&read(&ca_key_path)?).map_err(unusable)?;
            (read(&ca_path)?, key)
        }
        false => {
            let key = KeyPair::generate().map_err(unusable)?;
            let ca = CertifiedIssuer::self_signed(authority(), &key).map_err(unusable)?.pem();
            put(&ca_path, &ca, &mut files)?;
            put_key(&ca_key_path, &key, &mut files)?;
            (ca, key)
        }
    };
    let issuer = Issuer::from_ca_cert_pem(&ca, key).map_err(unusable)?;
    let node = leaf(hosts, hosts.first().map_or("campanile", String::as_str), ExtendedKeyUsagePurpose::ServerAuth)?;
    let client = leaf(&[], executor, ExtendedKeyUsagePurpose::ClientAuth)?;
    for (name, params) in [("node", node), ("executor", client)] {
        let key = KeyPair::generate().map_err(unusable)?;
        let certificate = params.signed_by(&key, &issuer).map_err(unusable)?;
        put(&folder.join(format!("{name}.pem")), &certificate.pem(), &mut files)?;
        put_key(&folder.join(format!("{name}-key.pem")), &key, &mut files)?;
    }
    Ok(Made { files, by_old_authority })
}

/// A certificate with its key, PEM: what is in the file, or else a new one, signed by itself and for as many of the names as
/// a certificate can have. It stays the same for as long as the file is there.
pub fn own(path: &Path, names: impl Iterator<Item = String>) -> Result<String, Fault> {
    let read = || fs::read_to_string(path);
    match read() {
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        found => return found.map_err(|error| cannot_write(path, &error)),
    }
    let names: Vec<String> = names.filter(|name| CertificateParams::new([name.clone()]).is_ok()).collect();
    let params = leaf(&names, "Campanile", ExtendedKeyUsagePurpose::ServerAuth)?;
    let key = KeyPair::generate().map_err(unusable)?;
    let certificate = params.self_signed(&key).map_err(unusable)?;
    // Of two programs that begin at once each reads a whole one.
    let half = path.with_extension(format!("{:08x}", rand::random::<u32>()));
    write_private(&half, &format!("{}{}", certificate.pem(), key.serialize_pem()))
        .and_then(|()| fs::rename(&half, path))
        .and_then(|()| read())
        .map_err(|error| cannot_write(path, &error))
}

fn authority() -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, "Campanile");
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    lasts(&mut params);
    params
}

fn leaf(hosts: &[String], name: &str, purpose: ExtendedKeyUsagePurpose) -> Result<CertificateParams, Fault> {
    let mut params = CertificateParams::new(hosts).map_err(unusable)?;
    params.distinguished_name.push(DnType::CommonName, name);
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![purpose];
    params.use_authority_key_identifier_extension = true;
    lasts(&mut params);
    Ok(params)
}

/// They are an installation's own: whoever stops trusting one makes new ones, and no date does it for them at night.
fn lasts(params: &mut CertificateParams) {
    params.not_before = date_time_ymd(2020, 1, 1);
    params.not_after = date_time_ymd(2099, 12, 31);
}

fn put(path: &Path, text: &str, files: &mut Vec<PathBuf>) -> Result<(), Fault> {
    fs::write(path, text).map_err(|error| cannot_write(path, &error))?;
    files.push(path.to_owned());
    Ok(())
}

fn put_key(path: &Path, key: &KeyPair, files: &mut Vec<PathBuf>) -> Result<(), Fault> {
    write_private(path, &key.serialize_pem()).map_err(|error| cannot_write(path, &error))?;
    files.push(path.to_owned());
    Ok(())
}

fn cannot_write(path: &Path, error: &std::io::Error) -> Fault {
    let path = path.display();
    let reason = Words::new(format!("{path}: {error}"), format!("{path}：{error}"));
    Code::BadRequest.fault().with_words("reason", &reason)
}

#[expect(clippy::needless_pass_by_value, reason = "it stands in map_err")]
fn unusable(error: rcgen::Error) -> Fault {
    let reason = Words::new(format!("no certificate could be made: {error}"), format!("无法生成证书：{error}"));
    Code::BadRequest.fault().with_words("reason", &reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_authority_that_is_there_signs_again_and_keys_are_for_their_owner_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let hosts = ["node-1.example".to_owned(), "127.0.0.1".to_owned()];
        let made = make(folder.path(), &hosts, "billing").expect("they are made");
        assert_eq!(made.files.len(), 6);
        let ca = fs::read(folder.path().join("ca.pem")).expect("an authority");
        let node = fs::read(folder.path().join("node.pem")).expect("a certificate");
        let again = make(folder.path(), &hosts, "reports").expect("they are made again");
        assert!(again.by_old_authority && again.files.len() == 4, "{again:?}");
        assert_eq!(fs::read(folder.path().join("ca.pem")).expect("the same"), ca);
        assert_ne!(fs::read(folder.path().join("node.pem")).expect("another"), node);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            for name in ["ca-key.pem", "node-key.pem", "executor-key.pem"] {
                let mode = fs::metadata(folder.path().join(name)).expect("a key").permissions().mode();
                assert_eq!(mode & 0o777, 0o600, "{name}");
            }
        }
    }

    #[test]
    fn a_node_keeps_the_certificate_that_it_made() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("http.pem");
        let names = || ["日".to_owned(), "node-a.example".to_owned(), "10.0.0.5".to_owned()].into_iter();
        let made = own(&path, names()).expect("it is made");
        assert!(made.contains("BEGIN CERTIFICATE") && made.contains("BEGIN PRIVATE KEY"), "{made}");
        assert_eq!(own(&path, names()).expect("it is read"), made);
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1, "nothing half is left");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(fs::metadata(&path).expect("it is there").permissions().mode() & 0o777, 0o600);
        }
    }

    #[test]
    fn a_name_that_no_certificate_can_have_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let fault = make(folder.path(), &["日".to_owned()], "x").expect_err("no name of a host");
        assert!(fault.is(Code::BadRequest), "{fault}");
    }
}
