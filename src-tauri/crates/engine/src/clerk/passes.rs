//! Passes as people ask for them: each opens as much as its owner's role does, and stays its owner's.

use campanile_model::pass::{Pass, is_digest};
use campanile_model::{Code, Words};
use campanile_store::Change;
use serde_json::json;

use super::carry::{Draft, Result};

impl Draft<'_> {
    pub(super) async fn give_pass(&mut self, digest: &str) -> Result<()> {
        if !is_digest(digest) {
            let reason = Words::new("a pass is asked for by a SHA-256 in hex", "通行证须以十六进制的 SHA-256 申请");
            return Err(Code::BadRequest.fault().with_words("reason", &reason).at("digest").into());
        }
        let who = &self.request.who;
        let known = self.shared.store.pass(digest).await?.filter(|pass| pass.holds(self.now));
        if known.as_ref().is_some_and(|pass| pass.who.name != who.name) {
            return Err(Code::NoPermission.fault().into());
        }
        let pass = Pass::given(digest.to_owned(), who.clone(), self.now);
        // Whoever stays renews it every few minutes: that they came in is what is worth keeping for ever.
        if known.is_none_or(|known| known.who != pass.who) {
            // So much of it tells it from others.
            let named = format!("pass:{}", &digest[..12]);
            self.note(&named, None, Some(json!({"role": pass.who.role, "until": pass.until})));
        }
        self.changes.push(Change::PutPass(pass));
        self.done.changed += 1;
        Ok(())
    }
}
