//! The pass of a console: drawn here, asked for by a request in the team's database, and renewed while it is used.
//!
//! Its secret stays in memory. A request that nobody has carried out yet stands; it is not asked a second time.

use std::sync::Arc;
use std::time::{Duration, Instant};

use campanile_api::passes::{draw, known_by};
use campanile_engine::{Desk, Dice};
use campanile_model::connection::Secret;
use campanile_model::request::Ask;
use campanile_model::{Fault, RequestId, Timestamp};

use crate::Host;

/// It is renewed while it still holds for so long.
const RENEW_BEFORE: Duration = Duration::from_secs(10 * 60);

/// How long a look waits for the answer; the next one looks again.
const ANSWERED_WITHIN: Duration = Duration::from_secs(2);

#[derive(Default)]
pub(super) struct OwnPass(Option<Drawn>);

struct Drawn {
    at: Instant,
    secret: Secret,
    digest: String,
    /// Zero: it was not given yet.
    until: Timestamp,
    asking: Option<RequestId>,
}

impl OwnPass {
    /// What is shown to nodes, given or renewed where that is due.
    pub async fn shown(&mut self, host: &Host) -> Result<Secret, Fault> {
        let now = host.clock.now();
        let drawn = match &mut self.0 {
            // One that has run out may be swept away by now, and is not renewed.
            Some(drawn) if drawn.until == Timestamp::EPOCH || drawn.until > now => drawn,
            old => old.insert(Drawn::new()),
        };
        if drawn.until > now + RENEW_BEFORE {
            return Ok(drawn.secret.clone());
        }
        match drawn.ask(host, now).await {
            Ok(until) => drawn.until = until,
            // It holds still, and there is a next time.
            Err(_) if drawn.until > now => {}
            Err(fault) => return Err(fault),
        }
        Ok(drawn.secret.clone())
    }

    pub fn is_younger_than(&self, age: Duration, now: Instant) -> bool {
        self.0.as_ref().is_some_and(|drawn| now.duration_since(drawn.at) < age)
    }
}

impl Drawn {
    fn new() -> Drawn {
        let secret = draw();
        let digest = known_by(&secret.0).expect("what is drawn is a pass");
        Drawn { at: Instant::now(), secret, digest, until: Timestamp::EPOCH, asking: None }
    }

    /// Until when it holds, once it is given.
    async fn ask(&mut self, host: &Host, now: Timestamp) -> Result<Timestamp, Fault> {
        let dice = Arc::new(Dice::fair());
        let id = *self.asking.get_or_insert_with(|| dice.request_id(now));
        let (store, coord, clock) = (host.store.clone(), host.backend.coord(), host.clock.clone());
        let desk = Desk { store, coord, clock, dice };
        let ask = Ask::GivePass { digest: self.digest.clone() };
        let answer = desk.ask_once(id, host.person(), ask, ANSWERED_WITHIN).await;
        if !answer.as_ref().is_err_and(|fault| fault.is(campanile_model::Code::Unanswered)) {
            self.asking = None;
        }
        answer?;
        let given = host.store().pass(&self.digest).await?;
        Ok(given.map_or(Timestamp::EPOCH, |pass| pass.until))
    }
}
