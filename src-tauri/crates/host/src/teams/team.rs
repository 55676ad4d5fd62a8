//! A team as a console looks at it: through its nodes and, where it is known by its database and no node can be reached,
//! by what stands there.

use std::path::Path;
use std::time::Duration;

use campanile_api::Lang;
use campanile_api::views::{Frame, GivenFile, TeamNodeTried};
use campanile_model::{Code, Fault};
use serde_json::Value;

use super::link::{Link, Miss, Node};
use super::lookout::Lookout;
use crate::downloads::Wanted;

/// Before the next feed where the last one ended without having said anything.
const TRY_AGAIN_AFTER: Duration = Duration::from_secs(1);

pub struct Team {
    name: String,
    way: Way,
}

enum Way {
    /// Nodes at addresses that a person gave.
    Nodes(Link),
    Database(Lookout),
}

impl Team {
    pub(super) fn by_nodes(name: &str, nodes: Vec<Node>) -> Team {
        Team { name: name.to_owned(), way: Way::Nodes(Link::new(name, nodes)) }
    }

    pub(super) fn by_database(name: &str, lookout: Lookout) -> Team {
        Team { name: name.to_owned(), way: Way::Database(lookout) }
    }

    fn link(&self) -> &Link {
        match &self.way {
            Way::Nodes(link) => link,
            Way::Database(lookout) => lookout.link(),
        }
    }

    /// The node that answered last, or is tried next; none: the team is not looked at through a node.
    pub fn node(&self) -> Option<String> {
        self.lookout().is_none_or(Lookout::is_live).then(|| self.link().node()).flatten()
    }

    /// Why the database is read instead of asking a node; none: it is not.
    pub fn reads_database(&self) -> Option<Fault> {
        self.lookout()?.reads()
    }

    pub async fn call(&self, operation: &str, input: &Value, zone: &str, lang: Lang) -> Result<Value, Fault> {
        if self.goes_by_nodes().await
            && let Some(answer) = self.settle(self.link().call(operation, input, zone, lang).await)
        {
            return answer;
        }
        self.beyond()?.call(operation, input.clone(), zone, lang).await
    }

    /// The live feed, for as long as `each` wants frames; it ends sooner where the one node of several goes, and with a
    /// fault where there is nothing to look at.
    pub async fn follow(&self, mut each: impl FnMut(Frame) -> bool) -> Result<(), Fault> {
        let Some(lookout) = self.lookout() else {
            return self.link().follow(&mut each).await.map(|_| ()).map_err(|miss| miss.fault(&self.name));
        };
        // From node to node, and to the database and back: whoever looks on is told of no change of way.
        loop {
            let mut told = false;
            let mut counted = |frame| {
                told = true;
                each(frame)
            };
            let wanted = match self.goes_by_nodes().await {
                true => match self.settle(self.link().follow(&mut counted).await) {
                    Some(wanted) => wanted?,
                    None => lookout.follow(&mut counted).await?,
                },
                false => lookout.follow(&mut counted).await?,
            };
            if !wanted {
                return Ok(());
            }
            if !told {
                tokio::time::sleep(TRY_AGAIN_AFTER).await;
            }
        }
    }

    /// Writes a log or a report of the team to a file of this machine.
    pub async fn save(&self, wanted: &Wanted, path: &Path, lang: Lang) -> Result<(), Fault> {
        if self.goes_by_nodes().await
            && let Some(saved) = self.settle(self.link().save(wanted, path, lang).await)
        {
            return saved;
        }
        Err(self.beyond()?.needs_node().await)
    }

    /// Sends a file of this machine to a node.
    pub async fn hand_in(&self, path: &Path) -> Result<GivenFile, Fault> {
        if self.goes_by_nodes().await
            && let Some(given) = self.settle(self.link().hand_in(path).await)
        {
            return given;
        }
        Err(self.beyond()?.needs_node().await)
    }

    /// What each node says when it is asked who it is.
    pub(super) async fn test(&self) -> Vec<TeamNodeTried> {
        let mut tried = Vec::new();
        for node in self.link().all() {
            tried.push(tried_node(&node, &self.name).await);
        }
        tried
    }

    fn lookout(&self) -> Option<&Lookout> {
        match &self.way {
            Way::Nodes(_) => None,
            Way::Database(lookout) => Some(lookout),
        }
    }

    fn beyond(&self) -> Result<&Lookout, Fault> {
        self.lookout().ok_or_else(|| Miss::Away(campanile_model::Words::default()).fault(&self.name))
    }

    async fn goes_by_nodes(&self) -> bool {
        match self.lookout() {
            None => true,
            Some(lookout) => lookout.settles().await.is_live(),
        }
    }

    /// What came of asking the nodes; none: none of them took it, and there is the database.
    fn settle<T>(&self, asked: Result<T, Miss>) -> Option<Result<T, Fault>> {
        match (asked, self.lookout()) {
            (Ok(answer), _) => Some(Ok(answer)),
            (Err(Miss::Away(reason)), Some(lookout)) => {
                lookout.loses(&reason);
                None
            }
            // Nothing was done: it was turned away at the door.
            (Err(Miss::Refused(fault)), Some(lookout)) if fault.is(Code::TokenWrong) => {
                lookout.is_refused(&fault);
                None
            }
            (Err(miss), _) => Some(Err(miss.fault(&self.name))),
        }
    }
}

pub(super) async fn tried_node(node: &Node, team: &str) -> TeamNodeTried {
    let address = node.base().to_owned();
    match node.answers().await {
        Ok(node) => TeamNodeTried { address, version: Some(node.version), fault: None },
        Err(miss) => TeamNodeTried { address, version: None, fault: Some(miss.fault(team)) },
    }
}
