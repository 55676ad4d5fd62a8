//! What waits for a person to say whether it is still to run (`misfire: ask`).

use serde::{Deserialize, Serialize};

use crate::{InstanceId, JobId, QuestionId, Timestamp};

/// So long a question waits; then it ends as if the answer had been to skip.
pub const ASKED_FOR_SECONDS: i64 = 86_400;

/// Firings that were missed, and nobody has said yet what is to become of them. They are recorded as not made; if
/// they are run after all, one run stands for all of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    pub id: QuestionId,
    pub job: JobId,
    pub version: u32,
    /// Planned time of the first and of the last of them.
    pub from: Timestamp,
    pub to: Timestamp,
    pub count: u32,
    pub asked_at: Timestamp,
    /// When it ends by itself.
    pub until: Timestamp,
    pub answer: Option<QuestionAnswer>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct QuestionAnswer {
    pub at: Timestamp,
    /// None: its time ran out.
    pub by: Option<String>,
    /// None: they are skipped.
    pub ran: Option<InstanceId>,
}

impl QuestionAnswer {
    pub const fn ran_out(at: Timestamp) -> QuestionAnswer {
        QuestionAnswer { at, by: None, ran: None }
    }
}
