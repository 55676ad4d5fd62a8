//! Names for things: one type for each noun, so that a task is never looked up among jobs.
//!
//! Ids are version 7 UUIDs, which sort by the time they were made. Whoever makes one brings the
//! time and the randomness.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use ts_rs::TS;
use uuid::Uuid;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, TS)]
        #[serde(transparent)]
        #[ts(type = "string")]
        pub struct $name(Uuid);

        impl $name {
            /// An id made at `millis` out of eighty random bits.
            pub fn new(millis: i64, random: [u8; 10]) -> Self {
                let millis = u64::try_from(millis).unwrap_or(0);
                $name(uuid::Builder::from_unix_timestamp_millis(millis, &random).into_uuid())
            }

            pub const fn from_uuid(uuid: Uuid) -> Self {
                $name(uuid)
            }

            pub const fn uuid(self) -> Uuid {
                self.0
            }

            pub fn bytes(self) -> [u8; 16] {
                self.0.into_bytes()
            }

            pub const fn from_bytes(bytes: [u8; 16]) -> Self {
                $name(Uuid::from_bytes(bytes))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0)
            }
        }

        impl FromStr for $name {
            type Err = uuid::Error;

            fn from_str(text: &str) -> Result<Self, uuid::Error> {
                Uuid::parse_str(text).map($name)
            }
        }
    )*};
}

ids! {
    /// What a user created.
    JobId,
    /// One firing of a job.
    InstanceId,
    /// The smallest unit that an executor runs.
    TaskId,
    /// Something that asks for a person's attention.
    AlarmId,
    /// Something that a person asked for.
    RequestId,
    /// Something that a person is asked.
    QuestionId,
    /// Data that waits for a run to take it.
    DataId,
}

impl JobId {
    /// The same for all runs of a job, different from job to job: it chooses a job's place wherever many are spread.
    pub fn seed(self) -> u64 {
        let (high, low) = self.0.as_u64_pair();
        high ^ low
    }
}
