//! By what this program is let in at nodes: a pass that a node gives itself, under the lease of its own seat, and that
//! whoever is no node asks for as people do.

use std::time::Duration;

use async_trait::async_trait;
use campanile_api::passes::{draw, known_by};
use campanile_engine::{Desk, seat_lease};
use campanile_model::pass::{PASS_SECONDS, Pass};
use campanile_model::request::{Ask, Person, Role};
use campanile_model::{Code, Fault, Timestamp};
use tokio::sync::Mutex;

use super::neighbours::Passes;

/// A clerk that is there answers within a second.
const ANSWERED_WITHIN: Duration = Duration::from_secs(5);

pub(crate) struct NodePasses {
    desk: Desk,
    /// Of this life.
    node: String,
    person: Person,
    /// The secret of the last, and until when it is shown.
    given: Mutex<Option<(String, Timestamp)>>,
}

impl NodePasses {
    pub fn new(desk: Desk, node: String, person: Person) -> NodePasses {
        NodePasses { desk, node, person, given: Mutex::default() }
    }
}

#[async_trait]
impl Passes for NodePasses {
    async fn pass(&self, refused: bool) -> Result<String, Fault> {
        let mut given = self.given.lock().await;
        let now = self.desk.clock.now();
        if let Some((secret, until)) = &*given
            && now < *until
            && !refused
        {
            return Ok(secret.clone());
        }
        let secret = draw().0;
        let digest = known_by(&secret).ok_or_else(|| Code::TokenWrong.fault())?;
        let seat = self.desk.store.lease(&seat_lease(&self.node)).await?.map(|row| row.lead);
        match seat.filter(|seat| seat.holder == self.node) {
            Some(seat) => {
                let who = Person { name: self.node.clone(), role: Role::Viewer };
                self.desk.store.put_pass(&seat, &Pass::given(digest, who, now)).await?;
            }
            None => {
                self.desk.ask(&self.person, Ask::GivePass { digest }, ANSWERED_WITHIN).await?;
            }
        }
        *given = Some((secret.clone(), now.plus_seconds(PASS_SECONDS / 2)));
        Ok(secret)
    }
}
