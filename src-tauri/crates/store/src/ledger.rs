//! What a batch of launches writes into the ledger, decided in memory for a backend to write with a few statements.
//!
//! A backend reads where the ledgers of the jobs end, under a lock that lasts as long as its transaction; here each
//! launch is held against that, and what unbroken runs make longer is told apart from what begins anew.

use std::collections::BTreeMap;

use campanile_model::Timestamp;
use campanile_model::instance::{Instance, Omission};
use campanile_model::ledger::LedgerSpan;

use crate::Launch;

/// Where a job's ledger ends.
#[derive(Debug)]
pub struct Ledger {
    version: u32,
    fired_through: Timestamp,
    made_through: Option<Timestamp>,
    omission: Option<(Place, Omission)>,
    span: Option<(Place, LedgerSpan)>,
}

/// A row that may still be lengthened: one in the database, or one that this batch is about to write.
#[derive(Clone, Copy, Debug)]
enum Place {
    Stored(i64),
    New(usize),
}

/// What a batch of launches writes into the ledger.
#[derive(Debug, Default)]
pub struct Entries {
    pub omissions: Vec<Omission>,
    /// By `seq`: the new end, and how many more.
    pub longer_omissions: BTreeMap<i64, (Timestamp, u32)>,
    pub spans: Vec<LedgerSpan>,
    /// By `seq`: the new end, and how many more were planned, made and not made.
    pub longer_spans: BTreeMap<i64, (Timestamp, u32, u32, u32)>,
}

impl Ledger {
    /// `made_through` is the latest planned time that became an instance; the last rows come with their `seq`.
    pub fn ending(
        version: u32,
        fired_through: Timestamp,
        made_through: Option<Timestamp>,
        omission: Option<(i64, Omission)>,
        span: Option<(i64, LedgerSpan)>,
    ) -> Ledger {
        let omission = omission.map(|(seq, last)| (Place::Stored(seq), last));
        let span = span.map(|(seq, last)| (Place::Stored(seq), last));
        Ledger { version, fired_through, made_through, omission, span }
    }

    pub fn version(&self) -> u32 {
        self.version
    }

    /// Whether the job is still as the launch saw it.
    pub fn is_as_seen(&self, launch: &Launch) -> bool {
        self.version == launch.version && self.fired_through == launch.seen_through
    }

    pub fn take(&mut self, launch: &Launch, entries: &mut Entries) {
        self.omit_all(&launch.omissions, &launch.instances, entries);
        self.extend(&launch.span, entries);
        self.fired_through = launch.fired_through;
    }

    pub fn omit_all(&mut self, omissions: &[Omission], instances: &[Instance], entries: &mut Entries) {
        let made: Vec<Timestamp> =
            instances.iter().filter(|instance| instance.origin.is_planned()).map(|instance| instance.planned).collect();
        for omission in omissions {
            self.omit(omission, &made, entries);
        }
        self.made_through = self.made_through.max(made.into_iter().max());
    }

    fn omit(&mut self, omission: &Omission, made: &[Timestamp], entries: &mut Entries) {
        let unbroken = self.omission.as_ref().filter(|(_, last)| {
            let between = |planned: &Timestamp| last.to < *planned && *planned < omission.from;
            last.version == omission.version
                && last.reason == omission.reason
                && last.to < omission.from
                && self.made_through.is_none_or(|planned| planned <= last.to)
                && !made.iter().any(between)
        });
        let place = match unbroken {
            None => {
                entries.omissions.push(omission.clone());
                Place::New(entries.omissions.len() - 1)
            }
            Some((Place::New(index), _)) => {
                let row = &mut entries.omissions[*index];
                row.to = omission.to;
                row.count += omission.count;
                Place::New(*index)
            }
            Some((Place::Stored(seq), _)) => {
                let more = entries.longer_omissions.entry(*seq).or_default();
                more.0 = omission.to;
                more.1 += omission.count;
                Place::Stored(*seq)
            }
        };
        self.omission = Some((place, omission.clone()));
    }

    fn extend(&mut self, span: &LedgerSpan, entries: &mut Entries) {
        let unbroken = self.span.as_ref().filter(|(_, last)| {
            last.version == span.version && last.zone_data == span.zone_data && last.to == span.from
        });
        let place = match unbroken {
            None => {
                entries.spans.push(span.clone());
                Place::New(entries.spans.len() - 1)
            }
            Some((Place::New(index), _)) => {
                let row = &mut entries.spans[*index];
                row.to = span.to;
                row.planned += span.planned;
                row.made += span.made;
                row.not_made += span.not_made;
                Place::New(*index)
            }
            Some((Place::Stored(seq), _)) => {
                let more = entries.longer_spans.entry(*seq).or_default();
                more.0 = span.to;
                more.1 += span.planned;
                more.2 += span.made;
                more.3 += span.not_made;
                Place::Stored(*seq)
            }
        };
        self.span = Some((place, span.clone()));
    }
}
