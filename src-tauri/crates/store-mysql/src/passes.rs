//! Passes: a row for each, by its digest.

use async_trait::async_trait;
use campanile_model::pass::Pass;
use campanile_store::{Lead, PassStore, Result};

use crate::MysqlStore;
use crate::connection::{Write, sql};
use crate::rows::{Columns, written};

#[async_trait]
impl PassStore for MysqlStore {
    async fn put_pass(&self, lead: &Lead, pass: &Pass) -> Result<()> {
        self.again(|| async move {
            let mut write = self.write_as(lead).await?;
            write.put_pass(pass).await?;
            write.commit().await
        })
        .await
    }

    async fn pass(&self, digest: &str) -> Result<Option<Pass>> {
        let found = sql("SELECT who, until_at FROM passes FORCE INDEX (PRIMARY) WHERE digest = ?");
        let Some(row) = self.read().await?.row(found.bind(digest.as_bytes().to_vec())).await? else { return Ok(None) };
        Ok(Some(Pass { digest: digest.to_owned(), who: row.json("who")?, until: row.time("until_at")? }))
    }
}

impl Write {
    pub(crate) async fn put_pass(&mut self, pass: &Pass) -> Result<()> {
        self.execute(
            sql("INSERT INTO passes (digest, who, until_at) VALUES (?, ?, ?)
                 ON DUPLICATE KEY UPDATE who = VALUES(who), until_at = VALUES(until_at)")
            .bind(pass.digest.as_bytes().to_vec())
            .bind(written(&pass.who)?)
            .bind(pass.until.millis()),
        )
        .await?;
        Ok(())
    }
}
