//! Where people hand in what they ask.
//!
//! The desk writes the request down, rings for the clerk and waits for the answer. It does not
//! carry anything out: the clerk may sit in another program.

use std::sync::Arc;
use std::time::Duration;

use campanile_coord::{Bell, Coord};
use campanile_model::request::{Answer, Ask, Done, Person, Request};
use campanile_model::{Code, Fault, RequestId};
use campanile_store::Store;

use crate::{Clock, Dice};

#[derive(Clone)]
pub struct Desk {
    pub store: Arc<dyn Store>,
    pub coord: Arc<dyn Coord>,
    pub clock: Arc<dyn Clock>,
    pub dice: Arc<Dice>,
}

/// How often the answer is looked for where no bell can tell of it.
const LOOK_EVERY: Duration = Duration::from_millis(50);

impl Desk {
    /// Hands in, and waits for the answer as long as `patience`.
    pub async fn ask(&self, who: &Person, ask: Ask, patience: Duration) -> Result<Done, Fault> {
        let id = self.dice.request_id(self.clock.now());
        self.ask_once(id, who, ask, patience).await
    }

    /// As `ask`, under an id of the caller's: asked twice, it is done once.
    pub async fn ask_once(&self, id: RequestId, who: &Person, ask: Ask, patience: Duration) -> Result<Done, Fault> {
        if who.role < ask.needs() {
            return Err(Code::NoPermission.fault());
        }
        let asked_at = self.clock.now();
        self.store.ask(&Request { id, who: who.clone(), ask, asked_at }).await?;
        self.coord.ring(Bell::Clerk);

        let give_up_at = asked_at + patience;
        loop {
            match self.store.answer(id).await? {
                Some(Answer::Done(done)) => return Ok(done),
                Some(Answer::Refused(fault)) => return Err(fault),
                None => {}
            }
            let now = self.clock.now();
            if now >= give_up_at {
                return Err(Code::Unanswered.fault().with("seconds", patience.as_secs()));
            }
            futures::future::select(
                self.coord.listen(Bell::Answers),
                self.clock.sleep_until(give_up_at.min(now + LOOK_EVERY)),
            )
            .await;
        }
    }
}
