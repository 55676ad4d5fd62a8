//! The address on which executors of other processes and machines come in, and who may.
//!
//! Where a group has tokens, its executors show one. Where it has none, whoever is on this machine may join it, and
//! whoever has shown a certificate that the node asked for. The group of the embedded executor always takes a token:
//! what runs there runs with the rights of this program's jobs.

use std::fmt::Display;
use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use campanile_api::tokens::{among, digest};
use campanile_gateway::{Caller, Door, Listener, Secure};
use campanile_model::token::{Shown, Token};
use campanile_model::{Code, Fault, Words};
use campanile_store::Store;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::Host;
use crate::embedded::GROUP;
use crate::tries::Tries;

/// Tokens are read again after this long; so long does one that was taken away still open.
const READ_AGAIN_AFTER: Duration = Duration::from_secs(1);

/// Files of certificates and keys, PEM.
#[derive(Clone, Debug, Default)]
pub struct TlsFiles {
    pub certificate: PathBuf,
    pub key: PathBuf,
    /// Executors must show a certificate that this authority has signed.
    pub client_ca: Option<PathBuf>,
}

impl TlsFiles {
    pub(crate) fn read(&self) -> Result<Secure, Fault> {
        let read = |path: &PathBuf| {
            std::fs::read(path).map_err(|error| {
                let (path, error) = (path.display(), error.to_string());
                let reason = Words::new(format!("{path} cannot be read: {error}"), format!("无法读取 {path}：{error}"));
                Code::BadRequest.fault().with_words("reason", &reason)
            })
        };
        let client_ca = self.client_ca.as_ref().map(read).transpose()?;
        Ok(Secure { certificate: read(&self.certificate)?, key: read(&self.key)?, client_ca })
    }
}

/// A listening address; nobody is let in until it runs.
pub struct ExecutorPort {
    listener: Listener,
}

impl ExecutorPort {
    /// Port 0: any that is free.
    pub async fn bind(address: SocketAddr, tls: Option<&TlsFiles>) -> Result<ExecutorPort, Fault> {
        let secure = tls.map(TlsFiles::read).transpose()?;
        let mut listener =
            Listener::bind(address).await.map_err(|error| cannot_listen(&address.to_string(), &error))?;
        if let Some(secure) = secure {
            listener = listener.secured(&secure).map_err(no_tls)?;
        }
        Ok(ExecutorPort { listener })
    }

    pub fn address(&self) -> SocketAddr {
        self.listener.address()
    }

    /// Lets executors in until `shutdown`.
    pub async fn run(self, host: Arc<Host>, shutdown: CancellationToken) {
        let door = Arc::new(HouseDoor { tokens: host.tokens().clone() });
        self.listener.run(host.switchboard().clone(), door, shutdown).await;
    }
}

/// While this setting is `true`, executors on this machine may join the desktop app.
const SETTING: &str = "executors";

/// Where they then find it.
const DESKTOP_ADDRESS: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 4610);

/// How often the setting is looked at.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// Listens while the person at the desktop wants it.
pub(crate) async fn listen_as_settings_say(host: Arc<Host>, shutdown: CancellationToken) {
    let mut open: Option<CancellationToken> = None;
    let mut refused = false;
    loop {
        match (host.store().setting(SETTING).await, &open) {
            (Ok(Some(Value::Bool(true))), None) => match ExecutorPort::bind(DESKTOP_ADDRESS, None).await {
                Ok(port) => {
                    let closing = shutdown.child_token();
                    tracing::info!(address = %port.address(), "executors on this machine may join");
                    tokio::spawn(port.run(host.clone(), closing.clone()));
                    (open, refused) = (Some(closing), false);
                }
                // Once is enough to be told of it.
                Err(fault) if !refused => {
                    tracing::warn!(%fault, "executors cannot join");
                    refused = true;
                }
                Err(_) => {}
            },
            (Ok(Some(Value::Bool(true))), Some(_)) | (Ok(_), None) => {}
            (Ok(_), Some(closing)) => {
                closing.cancel();
                open = None;
            }
            // Storage that does not answer now has not changed what is wanted.
            (Err(_), _) => {}
        }
        tokio::select! {
            () = shutdown.cancelled() => return,
            () = tokio::time::sleep(LOOK_EVERY) => {}
        }
    }
}

pub(crate) fn no_tls(error: impl Display) -> Fault {
    let reason =
        Words::new(format!("certificate and key make no TLS: {error}"), format!("证书与私钥无法用于 TLS：{error}"));
    Code::BadRequest.fault().with_words("reason", &reason)
}

pub(crate) fn cannot_listen(address: &str, error: &std::io::Error) -> Fault {
    let reason = match error.kind() {
        ErrorKind::AddrInUse => Words::new("another program has it", "已被其他程序占用"),
        ErrorKind::PermissionDenied => Words::new("it is not allowed", "没有权限"),
        ErrorKind::AddrNotAvailable => Words::new("it is no address of this machine", "不是本机地址"),
        _ => Words::new(error.to_string(), error.to_string()),
    };
    Code::AddressTaken.fault().with("address", address).with_words("reason", &reason)
}

/// Tokens by their ids, and when they were read.
type Read = (Instant, Arc<Vec<(String, Token)>>);

/// The tokens that there are, read again from time to time, and how often someone has shown a wrong one.
pub(crate) struct Tokens {
    store: Arc<dyn Store>,
    read: tokio::sync::Mutex<Option<Read>>,
    pub tries: Tries,
}

impl Tokens {
    pub fn new(store: Arc<dyn Store>) -> Tokens {
        Tokens { store, read: tokio::sync::Mutex::default(), tries: Tries::default() }
    }

    pub async fn all(&self) -> Result<Arc<Vec<(String, Token)>>, Fault> {
        let mut read = self.read.lock().await;
        if let Some((at, tokens)) = &*read
            && at.elapsed() < READ_AGAIN_AFTER
        {
            return Ok(tokens.clone());
        }
        let tokens = Arc::new(among(self.store.settings().await?));
        *read = Some((Instant::now(), tokens.clone()));
        Ok(tokens)
    }

    /// The token that someone shows, if there is such a one.
    pub async fn known(&self, shown: &str) -> Result<Option<Token>, Fault> {
        let Some(shown) = Shown::read(shown) else { return Ok(None) };
        let tokens = self.all().await?;
        let token = tokens.iter().find(|(id, _)| *id == shown.id).map(|(_, token)| token.clone());
        // What is compared is a digest: how long it takes tells nothing of the secret.
        Ok(token.filter(|token| token.digest == digest(shown.secret)))
    }
}

struct HouseDoor {
    tokens: Arc<Tokens>,
}

#[async_trait]
impl Door for HouseDoor {
    async fn admits(&self, caller: &Caller) -> Result<(), Fault> {
        let from = caller.peer.ip().to_canonical();
        let refused = |en: &str, zh: &str| {
            let fault = Code::ExecutorTokenRefused.fault().with("group", &caller.group);
            Err(fault.with_words("reason", &Words::new(en, zh)))
        };
        if self.tokens.tries.are_too_many(from) {
            return Err(Code::TooManyTries.fault().with("address", from));
        }
        if !caller.token.is_empty() {
            return match self.tokens.known(&caller.token).await? {
                Some(token) if token.scope.admits_executor(&caller.group) => Ok(()),
                Some(_) => refused("its token is for something else", "其令牌用于其他范围"),
                None => {
                    self.tokens.tries.one_more(from);
                    refused("its token is not known, or was taken away", "其令牌未知或已被撤销")
                }
            };
        }
        if caller.group == GROUP {
            return refused("it is the embedded executor's own, and takes a token", "该组属于内置执行器，需要令牌");
        }
        let tokens = self.tokens.all().await?;
        if tokens.iter().any(|(_, token)| token.scope.admits_executor(&caller.group)) {
            return refused("the group takes a token", "该组需要令牌");
        }
        match from.is_loopback() || caller.certified {
            true => Ok(()),
            false => refused("it comes from another machine and has no token", "来自其他机器且没有令牌"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use campanile_model::Timestamp;
    use serde_json::json;

    fn tokens(scopes: &[(&str, &str)]) -> Vec<(String, Token)> {
        let token = |scope: &str, secret: &str| Token {
            scope: scope.parse().expect("a scope"),
            note: String::new(),
            digest: digest(secret),
            made_by: "mei".to_owned(),
            made_at: Timestamp::EPOCH,
        };
        scopes.iter().enumerate().map(|(at, (scope, secret))| (format!("{at:02}"), token(scope, secret))).collect()
    }

    async fn check(group: &str, token: &str, peer: &str, certified: bool) -> Result<(), Fault> {
        let folder = tempfile::tempdir().expect("a folder");
        let store = campanile_store_sqlite::SqliteStore::open(&folder.path().join("db")).await.expect("a database");
        let held = Tokens::new(Arc::new(store));
        let known = tokens(&[("executor:billing", "aa"), ("executor:local", "bb"), ("run:*", "cc")]);
        *held.read.lock().await = Some((Instant::now() + Duration::from_secs(3600), Arc::new(known)));
        let caller = Caller {
            group: group.to_owned(),
            name: "one".to_owned(),
            token: token.to_owned(),
            peer: peer.parse().expect("an address"),
            certified,
        };
        HouseDoor { tokens: Arc::new(held) }.admits(&caller).await
    }

    #[tokio::test]
    async fn a_group_with_tokens_takes_one_and_a_group_without_is_for_this_machine() {
        let (here, there) = ("127.0.0.1:9", "10.0.0.7:9");
        for (group, token, peer, certified, admitted) in [
            ("billing", "cmp_00_aa", there, false, true),
            ("billing", "cmp_00_ab", there, false, false),
            ("billing", "cmp_02_cc", there, false, false),
            ("billing", "", here, true, false),
            ("reports", "", here, false, true),
            ("reports", "", "[::1]:9", false, true),
            ("reports", "", "[::ffff:127.0.0.1]:9", false, true),
            ("reports", "", there, false, false),
            ("reports", "", there, true, true),
            ("reports", "cmp_00_aa", here, false, false),
            ("reports", "nonsense", here, false, false),
            ("local", "", here, true, false),
            ("local", "cmp_01_bb", there, false, true),
        ] {
            let answer = check(group, token, peer, certified).await;
            assert_eq!(answer.is_ok(), admitted, "{group} {token} {peer} {certified}: {answer:?}");
            if let Err(fault) = answer {
                assert!(fault.is(Code::ExecutorTokenRefused), "{fault}");
            }
        }
    }

    #[test]
    fn what_is_kept_tells_nothing_of_the_secret() {
        let kept = json!(tokens(&[("executor:billing", "5ec4e7")])[0].1).to_string();
        assert!(!kept.contains("5ec4e7"), "{kept}");
    }
}
