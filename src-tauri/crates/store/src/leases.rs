//! Leases: who leads, and since which term.

use async_trait::async_trait;
use campanile_model::Timestamp;

use crate::Result;

/// A lease as its holder shows it with every write; or several of one holder, where a write depends on all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lead {
    pub lease: String,
    pub holder: String,
    /// Given by the store; grows whenever the lease changes hands.
    pub term: u64,
    /// Further leases of the same holder, each with its term.
    pub beside: Vec<(String, u64)>,
}

impl Lead {
    pub fn of(lease: impl Into<String>, holder: impl Into<String>, term: u64) -> Lead {
        Lead { lease: lease.into(), holder: holder.into(), term, beside: Vec::new() }
    }

    /// All of them shown with one write. None: there is none. They have to be of one holder.
    pub fn together<'a>(leads: impl IntoIterator<Item = &'a Lead>) -> Option<Lead> {
        let mut leads = leads.into_iter();
        let mut first = leads.next()?.clone();
        for lead in leads {
            first.beside.extend(lead.shown().map(|(lease, term)| (lease.to_owned(), term)));
        }
        Some(first)
    }

    /// Every lease that it shows, with its term.
    pub fn shown(&self) -> impl Iterator<Item = (&str, u64)> {
        let beside = self.beside.iter().map(|(lease, term)| (lease.as_str(), *term));
        std::iter::once((self.lease.as_str(), self.term)).chain(beside)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseRow {
    pub lead: Lead,
    pub until: Timestamp,
}

#[async_trait]
pub trait LeaseStore: Send + Sync {
    /// Takes the lease until `until` where it is free, released or at its end by `now`. None: someone else has it.
    /// Its holder asking again gets the same term only while it still has it; otherwise a new one.
    ///
    /// Of two that ask at once, one gets it.
    async fn take_lease(&self, lease: &str, holder: &str, now: Timestamp, until: Timestamp) -> Result<Option<Lead>>;

    /// Extends a lease that is still ours (same term, also where it has run out and nobody took it).
    /// False: it has passed to someone else, or was released.
    async fn keep_lease(&self, lead: &Lead, until: Timestamp) -> Result<bool>;

    /// Gives it up at once; nothing is written under its term any more. Nothing happens where it is no longer ours.
    async fn release_lease(&self, lead: &Lead) -> Result<()>;

    /// Who has it, or had it last (an `until` in the past, zero after a release).
    async fn lease(&self, lease: &str) -> Result<Option<LeaseRow>>;

    /// The same of every lease whose name begins so, by name.
    async fn leases(&self, beginning: &str) -> Result<Vec<LeaseRow>>;

    /// Takes those that it can, each as `take_lease` does; one that somebody else is just about to take or to write
    /// under may be left out. A few statements, however many leases there are.
    async fn take_leases(&self, leases: &[String], holder: &str, now: Timestamp, until: Timestamp)
    -> Result<Vec<Lead>>;

    /// Extends those that are still ours, each as `keep_lease` does, and hands them back. All are of one holder.
    async fn keep_leases(&self, leads: &[Lead], until: Timestamp) -> Result<Vec<Lead>>;

    /// Gives up those that are still ours. All are of one holder.
    async fn release_leases(&self, leads: &[Lead]) -> Result<()>;
}
