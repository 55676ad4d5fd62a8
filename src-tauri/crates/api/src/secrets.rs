//! Secrets: sealed here, at the moment they are entered, and never written down as they were.
//!
//! What is stored, asked for and audited is the sealed value; only the executors of its group can open
//! it. Nobody can read a secret back, a person who set it included.

use std::collections::{BTreeMap, BTreeSet};

use campanile_model::request::{Ask, Role};
use campanile_model::secret::{SealedValue, check_name, check_value, from_hex, of_setting, setting, to_hex};
use campanile_model::{Code, Fault, Words};
use crypto_box::PublicKey;
use crypto_box::aead::OsRng;
use serde_json::{Value, json};

use crate::views::*;
use crate::{Api, CallContext};

/// Of a key so much is shown.
const SHOWN_OF_KEY: usize = 12;

impl Api {
    pub(crate) async fn list_secrets(&self, _: Nothing, cx: &CallContext) -> Result<SecretList, Fault> {
        if cx.who.role < Role::Editor {
            return Err(Code::NoPermission.fault());
        }
        let told = self.told(cx)?;
        let keys = self.group_keys().await?;
        let mut rows = Vec::new();
        for (key, value) in self.store().settings().await? {
            let Some((group, name)) = of_setting(&key) else { continue };
            let Some(sealed) = read(name, value)? else { continue };
            let of_group = keys.get(group);
            rows.push(SecretRow {
                group: group.to_owned(),
                name: name.to_owned(),
                by: sealed.by,
                at: told.moment(sealed.at),
                stale: of_group.is_some_and(|keys| !keys.contains_key(&sealed.sealed_to)),
                sealed_to: sealed.sealed_to.chars().take(SHOWN_OF_KEY).collect(),
                can_change: cx.may(Role::Admin),
            });
        }
        let groups = keys.into_keys().collect();
        Ok(SecretList { rows, groups, can_add: cx.may(Role::Admin) })
    }

    pub(crate) async fn put_secret(&self, put: PutSecret, cx: &CallContext) -> Result<DoneView, Fault> {
        if cx.who.role < Role::Admin {
            return Err(Code::NoPermission.fault());
        }
        check_name(&put.name)?;
        check_value(&put.value.0)?;
        let sealed_to = match &put.key {
            Some(key) => key.trim().to_ascii_lowercase(),
            None => self.key_of(&put.group).await?,
        };
        let public = from_hex(&sealed_to).and_then(|bytes| <[u8; 32]>::try_from(bytes).ok()).ok_or_else(|| {
            let reason = Words::new("a public key is 64 hexadecimal digits", "公钥应为 64 位十六进制数字");
            Code::BadRequest.fault().with_words("reason", &reason).at("key")
        })?;
        let ciphertext = PublicKey::from(public).seal(&mut OsRng, put.value.0.as_bytes()).map_err(|_| {
            let reason = Words::new("it cannot be sealed to this key", "无法用此公钥加密");
            Code::BadRequest.fault().with_words("reason", &reason).at("key")
        })?;
        let sealed =
            SealedValue { sealed_to, ciphertext: to_hex(&ciphertext), by: cx.who.name.clone(), at: self.now() };
        let key = setting(&put.group, &put.name);
        self.ask(cx, Ask::Set { key, value: json!(sealed) }).await.map(DoneView::from)
    }

    pub(crate) async fn remove_secret(&self, of: OfSecret, cx: &CallContext) -> Result<DoneView, Fault> {
        let key = setting(&of.group, &of.name);
        let found = match self.store().setting(&key).await? {
            Some(value) => read(&of.name, value)?,
            None => None,
        };
        if found.is_none() {
            return Err(Code::SecretNotFound.fault().with("name", &of.name).with("group", &of.group).at("name"));
        }
        self.ask(cx, Ask::Set { key, value: Value::Null }).await.map(DoneView::from)
    }

    /// The one key that all executors of a group have.
    async fn key_of(&self, group: &str) -> Result<String, Fault> {
        let keys = self.group_keys().await?.remove(group).unwrap_or_default();
        if keys.len() > 1 {
            let executors: BTreeSet<String> = keys.into_values().flatten().collect();
            let executors = executors.into_iter().collect::<Vec<_>>().join(", ");
            return Err(Code::SecretKeysDiffer.fault().with("group", group).with("executors", executors).at("group"));
        }
        let unknown = || Code::SecretKeyUnknown.fault().with("group", group).at("group");
        keys.into_keys().next().ok_or_else(unknown)
    }

    /// Of each group the keys in use, each with who has it.
    async fn group_keys(&self) -> Result<BTreeMap<String, BTreeMap<String, Vec<String>>>, Fault> {
        let mut keys: BTreeMap<String, BTreeMap<String, Vec<String>>> = BTreeMap::new();
        // Of our own executor the key is known whether or not it lives just now.
        let own = self.node.own_group();
        if let Some(key) = self.node.own_key() {
            keys.entry(own.to_owned()).or_default().insert(to_hex(&key), Vec::new());
        }
        for (entry, _) in self.store().executors().await? {
            let executor = entry.executor;
            if entry.public_key.is_empty() || entry.embedded || entry.gone_at.is_some() {
                continue;
            }
            let of_group = keys.entry(executor.group).or_default();
            of_group.entry(entry.public_key).or_default().push(executor.name);
        }
        Ok(keys)
    }
}

/// What a setting holds; nothing where the secret was removed.
fn read(name: &str, value: Value) -> Result<Option<SealedValue>, Fault> {
    serde_json::from_value(value)
        .map_err(|error| Code::DataDamaged.fault().with("reason", format!("secret {name}: {error}")))
}
