//! The protocol between executors and nodes, as Rust types and a tonic service.
//!
//! The public page is `proto/campanile/executor/v1/executor.proto`: every rule of
//! order, repetition and reconnection stands there, because executors in other
//! languages have nothing else to go by. This crate adds nothing but short ways
//! to build its messages.
//!
//! It does not decide anything: the node's side of the rules is the gateway's,
//! the executor's side is the SDK's.

/// Version 1: what the compiler makes of `executor.proto`.
pub mod v1 {
    #![allow(clippy::all, clippy::pedantic, clippy::needless_pass_by_value, clippy::unwrap_used, clippy::large_futures)]
    #![allow(rust_2018_idioms, unused_qualifications)]

    tonic::include_proto!("campanile.executor.v1");
}

/// What [`v1::Register`] and [`v1::Welcome`] carry as the protocol's version.
pub const PROTOCOL_VERSION: u32 = 1;

/// A task's result, as JSON, is no longer than this.
pub const MAX_RESULT_BYTES: usize = 64 * 1024;

/// A line of a log is cut here, with a visible mark.
pub const MAX_LINE_BYTES: usize = 64 * 1024;

/// Nothing larger goes over the stream as one message.
pub const MAX_MESSAGE_BYTES: usize = 1024 * 1024;

/// [`v1::Items`] carries no more outcomes than this.
pub const MAX_ITEMS_PER_REPORT: usize = 1000;

impl v1::AttemptRef {
    pub fn new(task_id: impl Into<String>, attempt: u32) -> Self {
        v1::AttemptRef { task_id: task_id.into(), attempt }
    }
}

/// Wraps each body in the envelope that carries it.
macro_rules! envelopes {
    ($envelope:ident in $module:ident: $($variant:ident($body:ident)),* $(,)?) => {$(
        impl From<v1::$body> for v1::$envelope {
            fn from(body: v1::$body) -> Self {
                v1::$envelope { message: Some(v1::$module::Message::$variant(body)) }
            }
        }
    )*};
}

envelopes!(FromExecutor in from_executor:
    Register(Register),
    Heartbeat(Heartbeat),
    Report(Report),
    Capacity(Capacity),
    Draining(Draining),
    Goodbye(Goodbye),
    StillNeededAnswer(StillNeededAnswer),
    AskLocks(AskLocks),
    LeaveLocks(LeaveLocks),
);

envelopes!(ToExecutor in to_executor:
    Welcome(Welcome),
    Refused(Refused),
    HeartbeatAck(HeartbeatAck),
    Push(Push),
    ShardData(ShardData),
    ShardEnds(ShardEnds),
    Withdraw(Withdraw),
    Cancel(Cancel),
    Ack(Ack),
    Forget(Forget),
    Drain(Drain),
    Resume(Resume),
    StillNeeded(StillNeeded),
    Nodes(Nodes),
    LocksGranted(LocksGranted),
    LocksRefused(LocksRefused),
    LocksLost(LocksLost),
    LocksLeft(LocksLeft),
);

#[cfg(test)]
mod tests {
    use super::v1::{self, report::What};
    use prost::Message as _;

    #[test]
    fn a_report_reads_back_as_it_was_written() {
        let report = v1::Report {
            attempt: Some(v1::AttemptRef::new("0191", 2)),
            sequence: 7,
            at_ms: 1_648_029_600_000,
            what: Some(What::Finished(v1::Finished {
                outcome: Some(v1::finished::Outcome::Failed(v1::Failure {
                    class: v1::FailureClass::Business.into(),
                    code: "k_sc_ec_300012".into(),
                    message_en: "exited with code 3".into(),
                    message_zh: "以退出码 3 结束".into(),
                })),
            })),
        };
        let sent = v1::FromExecutor::from(report);
        let read = v1::FromExecutor::decode(sent.encode_to_vec().as_slice()).unwrap();
        assert_eq!(read, sent);
    }

    /// An old side must be able to read what a newer one says.
    #[test]
    fn a_message_of_a_later_version_is_read_as_none_rather_than_refused() {
        // Field 39, length-delimited, empty.
        let read = v1::ToExecutor::decode([0xba, 0x02, 0x00].as_slice()).unwrap();
        assert_eq!(read.message, None);
    }
}
