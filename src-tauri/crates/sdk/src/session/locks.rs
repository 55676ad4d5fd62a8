//! Locks that attempts hold or wait for: asked for, told again after a break, lost with the lease.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use campanile_proto::v1;
use tokio::time::Instant;

use super::record::{Outgoing, Record};
use super::{Key, Session, attempt_of, key_of};
use crate::locks::{Claim, Stage, Wanted, unavailable};
use crate::{Class, TaskError, failure};

/// Asks that are not over, each with whether it is to be left.
pub(super) type Claims = BTreeMap<(Key, u64), (Arc<Claim>, bool)>;

impl Session {
    pub(super) fn wanted(&mut self, key: Key, wanted: Wanted, now: Instant) {
        match wanted {
            Wanted::Take(claim) => {
                let runs = self.records.get(&key).is_some_and(Record::is_running);
                if !runs || self.lease_until.is_none_or(|end| end <= now) {
                    claim.reach(Stage::Refused(unavailable("the executor has no lease", "执行器没有租约")));
                    return;
                }
                ask(&key, &claim, now, &mut self.outgoing);
                self.claims.insert((key, claim.number), (claim, false));
            }
            Wanted::Leave(number) => {
                let message = v1::LeaveLocks { attempt: Some(attempt_of(&key)), ask: number };
                if let Some((_, leaving)) = self.claims.get_mut(&(key, number))
                    && !std::mem::replace(leaving, true)
                {
                    self.outgoing.say(message);
                }
            }
        }
    }

    pub(super) fn locks_granted(&mut self, granted: v1::LocksGranted, now: Instant) {
        let Some(key) = key_of(granted.attempt.as_ref()) else { return };
        if let Some((claim, _)) = self.claims.get(&(key, granted.ask)) {
            let until = granted.left_ms.map(|left| now + Duration::from_millis(left));
            claim.granted(granted.locks.into_iter().map(|held| (held.name, held.token)).collect(), until);
        }
    }

    pub(super) fn locks_refused(&mut self, refused: v1::LocksRefused) {
        let Some(key) = key_of(refused.attempt.as_ref()) else { return };
        if let Some((claim, _)) = self.claims.remove(&(key, refused.ask)) {
            let why = refused.why.unwrap_or_default();
            let class = match why.class() {
                v1::FailureClass::Business => Class::Business,
                v1::FailureClass::System => Class::System,
                v1::FailureClass::Transient | v1::FailureClass::Unspecified => Class::Transient,
            };
            claim.reach(Stage::Refused(TaskError::failed(class, why.code, why.message_en, why.message_zh)));
        }
    }

    pub(super) fn locks_lost(&mut self, lost: &v1::LocksLost) {
        let Some(key) = key_of(lost.attempt.as_ref()) else { return };
        let place = (key, lost.ask);
        let Some((claim, leaving)) = self.claims.get(&place) else { return };
        let (all, is_news) = (claim.lose(&lost.names), !*leaving);
        if all {
            self.claims.remove(&place);
        }
        if is_news {
            tracing::warn!(executor = %self.config.name, task = %place.0.0, locks = ?lost.names, "locks were lost");
            self.without_its_lock(&place.0);
        }
    }

    pub(super) fn locks_left(&mut self, left: &v1::LocksLeft) {
        let Some(key) = key_of(left.attempt.as_ref()) else { return };
        if let Some((claim, _)) = self.claims.remove(&(key, left.ask)) {
            claim.reach(Stage::Left);
        }
    }

    /// After Welcome: what is not over is asked again, and left again.
    pub(super) fn ask_for_locks_again(&mut self, now: Instant) {
        for ((key, number), (claim, leaving)) in &self.claims {
            ask(key, claim, now, &mut self.outgoing);
            if *leaving {
                self.outgoing.say(v1::LeaveLocks { attempt: Some(attempt_of(key)), ask: *number });
            }
        }
    }

    /// With the attempt the node leaves what it held.
    pub(super) fn forget_locks(&mut self, key: &Key) {
        for (_, (claim, _)) in self.claims.extract_if(.., |(of, _), _| of == key) {
            claim.reach(Stage::Left);
        }
    }

    /// What an attempt held it holds no longer: it is another's, or may be. A node that still counts it as ours is told.
    pub(super) fn lose_locks(&mut self, of: impl Fn(&Key) -> bool) {
        let lost: Vec<_> = self.claims.extract_if(.., |(key, _), _| of(key)).collect();
        for ((key, number), (claim, leaving)) in lost {
            let message = v1::LeaveLocks { attempt: Some(attempt_of(&key)), ask: number };
            self.outgoing.say(message);
            if !claim.is_held() {
                claim.reach(Stage::Refused(unavailable("the executor has no lease", "执行器没有租约")));
                continue;
            }
            claim.reach(Stage::Lost);
            if !leaving {
                self.without_its_lock(&key);
            }
        }
    }

    fn without_its_lock(&mut self, key: &Key) {
        if let Some(record) = self.records.get_mut(key)
            && record.is_running()
        {
            record.ask_to_end(failure::LOCK_LOST);
        }
    }
}

fn ask(key: &Key, claim: &Claim, now: Instant, outgoing: &mut Outgoing) {
    let ms = |span: Duration| u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
    outgoing.say(v1::AskLocks {
        attempt: Some(attempt_of(key)),
        ask: claim.number,
        names: claim.names.clone(),
        wait_ms: ms(claim.give_up_at.saturating_duration_since(now)),
        lease_ms: claim.lease.map(ms),
        held: claim.held(),
    });
}
