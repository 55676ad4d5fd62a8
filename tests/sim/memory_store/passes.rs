//! Passes, by their digest.

use async_trait::async_trait;
use campanile_model::pass::Pass;
use campanile_store::{Lead, PassStore, Purge, Result};

use super::{MemoryStore, Stored};

#[async_trait]
impl PassStore for MemoryStore {
    async fn put_pass(&self, lead: &Lead, pass: &Pass) -> Result<()> {
        self.lead("put_pass", lead, |stored| {
            stored.passes.insert(pass.digest.clone(), pass.clone());
        })
        .await
    }

    async fn pass(&self, digest: &str) -> Result<Option<Pass>> {
        self.read("pass", |stored| stored.passes.get(digest).cloned()).await
    }
}

impl Stored {
    /// How many went.
    pub(super) fn purge_passes(&mut self, purge: &Purge) -> u64 {
        let old: Vec<String> = {
            let mut old: Vec<&Pass> = self.passes.values().filter(|pass| pass.until < purge.passes_before).collect();
            old.sort_by_key(|pass| pass.until);
            old.into_iter().take(purge.limit).map(|pass| pass.digest.clone()).collect()
        };
        old.iter().for_each(|digest| {
            self.passes.remove(digest);
        });
        old.len() as u64
    }
}
