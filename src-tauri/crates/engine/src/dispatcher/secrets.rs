//! What `${secret:name}` in the parameters of a push stands for, still sealed.
//!
//! The node cannot open it and does not try: what is missing, or sealed to another key than the
//! executor's, the executor refuses by its name.

use std::collections::HashMap;

use campanile_model::secret::{self, SealedValue};
use campanile_store::{SettingStore, StoreError};

use crate::link::SealedSecret;

/// Secrets read in one pass, by setting.
#[derive(Default)]
pub struct Sealed(HashMap<String, Option<Vec<u8>>>);

impl Sealed {
    /// Those that the parameters name, as far as the group has them.
    pub async fn of(
        &mut self,
        store: &(impl SettingStore + ?Sized),
        group: &str,
        parameters: &str,
    ) -> Result<Vec<SealedSecret>, StoreError> {
        let mut found = Vec::new();
        for name in secret::names_in(parameters) {
            let key = secret::setting(group, name);
            if !self.0.contains_key(&key) {
                let kept = match store.setting(&key).await? {
                    Some(value) => serde_json::from_value::<Option<SealedValue>>(value)
                        .map_err(|error| StoreError::Damaged(format!("setting {key}: {error}")))?,
                    None => None,
                };
                let ciphertext = kept.and_then(|kept| secret::from_hex(&kept.ciphertext));
                self.0.insert(key.clone(), ciphertext);
            }
            if let Some(Some(ciphertext)) = self.0.get(&key) {
                found.push(SealedSecret { name: name.to_owned(), ciphertext: ciphertext.clone() });
            }
        }
        Ok(found)
    }
}
