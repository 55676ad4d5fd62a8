//! Carries out what people ask.
//!
//! Every request ends: done, or refused with a fault. The role is checked again here, because whoever
//! wrote the request down may have known better than they should. Change, answer and audit entry are
//! written together, and only where everything is still as it was read.

mod calendars;
mod carry;
mod passes;
mod shards;

pub use carry::blackout_fault;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use campanile_coord::Bell;
use campanile_model::request::{Answer, Request};
use campanile_model::{Code, Timestamp};
use campanile_store::{CarriedOut, Lead, StoreError, Taken};

use crate::events::Topic;
use crate::officer::{Officer, Pass, PassError};
use crate::shared::Shared;

/// Requests read at once.
const BATCH: usize = 100;

/// A request that loses so often against others is refused rather than kept waiting for ever.
const MOST_TRIES: u32 = 20;

pub struct Clerk {
    shared: Arc<Shared>,
    lead: Lead,
}

impl Clerk {
    pub fn new(shared: Arc<Shared>, lead: Lead) -> Clerk {
        Clerk { shared, lead }
    }

    /// Decides on what is there now, again where someone was faster.
    async fn carry_out(&self, request: &Request, now: Timestamp) -> Result<(), PassError> {
        for _ in 0..MOST_TRIES {
            let carried = match self.decide(request, now).await {
                Ok(carried) => carried,
                Err(carry::CarryError::Store(error)) => return Err(error.into()),
                Err(carry::CarryError::Refused(fault)) => refusal(request, *fault),
            };
            match self.shared.store.carry_out(&self.lead, &carried).await {
                Ok(Taken::Done) => return Ok(()),
                Ok(Taken::Lost) => {}
                // It may have been written; then the next pass finds it answered.
                Err(error @ StoreError::Unknown(_)) => return Err(error.into()),
                Err(error) => return Err(error.into()),
            }
            // A request that has its answer is lost too, and done.
            if self.shared.store.answer(request.id).await?.is_some() {
                return Ok(());
            }
        }
        let fault = Code::BadRequest.fault().with("reason", "others keep changing the same thing");
        self.shared.store.carry_out(&self.lead, &refusal(request, fault)).await?;
        Ok(())
    }

    async fn decide(&self, request: &Request, now: Timestamp) -> Result<CarriedOut, carry::CarryError> {
        if request.who.role < request.ask.needs() {
            return Err(carry::CarryError::refused(Code::NoPermission.fault()));
        }
        carry::carry(&self.shared, request, now).await
    }
}

fn refusal(request: &Request, fault: campanile_model::Fault) -> CarriedOut {
    CarriedOut { request: request.id, changes: Vec::new(), answer: Answer::Refused(fault), audit: Vec::new() }
}

#[async_trait]
impl Officer for Clerk {
    fn name(&self) -> &'static str {
        "clerk"
    }

    fn bell(&self) -> Bell {
        Bell::Clerk
    }

    /// Another program's request rings no bell here.
    fn patience(&self) -> Duration {
        Duration::from_millis(200)
    }

    async fn pass(&mut self, now: Timestamp) -> Result<Pass, PassError> {
        let requests = self.shared.store.open_requests(BATCH).await?;
        for request in &requests {
            self.carry_out(request, now).await?;
            self.shared.coord.ring(Bell::Answers);
        }
        if !requests.is_empty() {
            for topic in [
                Topic::Jobs,
                Topic::Instances,
                Topic::Tasks,
                Topic::Alarms,
                Topic::Settings,
                Topic::Audit,
                Topic::Executors,
            ] {
                self.shared.events.say(topic, now);
            }
            for bell in
                [Bell::Launcher, Bell::Assigner, Bell::Dispatcher, Bell::Monitor, Bell::Sweeper, Bell::Registrar]
            {
                self.shared.coord.ring(bell);
            }
        }
        Ok(Pass { did: requests.len(), again: requests.len() == BATCH, next: None })
    }
}
