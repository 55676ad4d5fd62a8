//! Tokens: made, listed, taken away. What one opens is told once, to whoever makes it.

use campanile_model::request::{Ask, Role};
use campanile_model::secret::to_hex;
use campanile_model::token::{Shown, TOKEN_SETTING, Token};
use campanile_model::{Code, Fault, Words};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::views::*;
use crate::{Api, CallContext};

/// More would be hard to tell apart, and somebody makes them without taking any away.
const MOST_TOKENS: usize = 1000;

const LONGEST_NOTE: usize = 200;

/// What is kept of a secret. It is drawn from 256 bits, so that a plain digest tells nothing of it.
pub fn digest(secret: &str) -> String {
    to_hex(&Sha256::digest(secret.as_bytes()))
}

/// Tokens among the settings, with their ids; those taken away are not.
pub fn among(settings: Vec<(String, Value)>) -> Vec<(String, Token)> {
    settings
        .into_iter()
        .filter_map(|(key, value)| {
            let id = key.strip_prefix(TOKEN_SETTING)?.to_owned();
            if value.is_null() {
                return None;
            }
            match serde_json::from_value(value) {
                Ok(token) => Some((id, token)),
                Err(error) => {
                    tracing::error!(token = id, %error, "a token cannot be read, and opens nothing");
                    None
                }
            }
        })
        .collect()
}

impl Api {
    pub(crate) async fn make_token(&self, make: MakeToken, cx: &CallContext) -> Result<TokenMade, Fault> {
        needs_admin(cx)?;
        let scope = make.scope.parse()?;
        let note = make.note.trim().to_owned();
        if note.chars().count() > LONGEST_NOTE {
            let reason = Words::new(
                format!("a note has at most {LONGEST_NOTE} characters"),
                format!("备注最多 {LONGEST_NOTE} 个字符"),
            );
            return Err(Code::BadRequest.fault().with_words("reason", &reason).at("note"));
        }
        if among(self.store().settings().await?).len() >= MOST_TOKENS {
            let reason =
                Words::new(format!("there are {MOST_TOKENS} tokens already"), format!("已有 {MOST_TOKENS} 个令牌"));
            return Err(Code::BadRequest.fault().with_words("reason", &reason));
        }
        let id = to_hex(&rand::random::<[u8; 6]>());
        let secret = to_hex(&rand::random::<[u8; 32]>());
        let token = Token { scope, note, digest: digest(&secret), made_by: cx.who.name.clone(), made_at: self.now() };
        self.ask(cx, Ask::Set { key: format!("{TOKEN_SETTING}{id}"), value: json!(token) }).await?;
        let told = Shown { id: &id, secret: &secret }.to_string();
        Ok(TokenMade { id, token: told, scope: token.scope.to_string() })
    }

    pub(crate) async fn list_tokens(&self, _: Nothing, cx: &CallContext) -> Result<TokenList, Fault> {
        needs_admin(cx)?;
        let told = self.told(cx)?;
        let mut tokens = among(self.store().settings().await?);
        tokens.sort_by_key(|(_, token)| token.made_at);
        let rows = tokens.into_iter().map(|(id, token)| TokenView {
            id,
            scope: token.scope.to_string(),
            note: token.note,
            made_by: token.made_by,
            made_at: told.moment(token.made_at),
        });
        Ok(TokenList { rows: rows.collect() })
    }

    pub(crate) async fn revoke_token(&self, of: OfToken, cx: &CallContext) -> Result<DoneView, Fault> {
        needs_admin(cx)?;
        // Someone who has the whole token may give it, too.
        let id = Shown::read(&of.id).map_or(of.id.as_str(), |shown| shown.id);
        let key = format!("{TOKEN_SETTING}{id}");
        match self.store().setting(&key).await? {
            None | Some(Value::Null) => Err(Code::TokenNotFound.fault().with("token", id)),
            Some(_) => self.ask(cx, Ask::Set { key, value: Value::Null }).await.map(DoneView::from),
        }
    }
}

fn needs_admin(cx: &CallContext) -> Result<(), Fault> {
    if cx.who.role < Role::Admin { Err(Code::NoPermission.fault()) } else { Ok(()) }
}
