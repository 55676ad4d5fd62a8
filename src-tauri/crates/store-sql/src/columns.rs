//! Columns of a row as the types that nouns are made of. What makes no sense is reported as damage, never guessed at.

use campanile_model::task::TaskState;
use campanile_model::{AlarmId, DataId, InstanceId, JobId, Lane, QuestionId, RequestId, TaskId, Timestamp};
use campanile_store::{Result, StoreError};
use serde::Serialize;
use serde::de::DeserializeOwned;
use sqlx::{ColumnIndex, Decode, Row, Type};

pub trait Id: Copy {
    fn of(bytes: [u8; 16]) -> Self;
    fn blob(self) -> Vec<u8>;
}

macro_rules! ids {
    ($($name:ident),*) => {$(
        impl Id for $name {
            fn of(bytes: [u8; 16]) -> Self {
                $name::from_bytes(bytes)
            }

            fn blob(self) -> Vec<u8> {
                self.bytes().to_vec()
            }
        }
    )*};
}

ids!(JobId, InstanceId, TaskId, AlarmId, RequestId, QuestionId, DataId);

/// Numbers of ours that only grow, and not that far.
pub fn number(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

pub fn limit(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

pub fn damaged(what: impl std::fmt::Display) -> StoreError {
    StoreError::Damaged(what.to_string())
}

pub fn written<T: Serialize + ?Sized>(value: &T) -> Result<String> {
    serde_json::to_string(value).map_err(damaged)
}

pub fn maybe_written<T: Serialize>(value: Option<&T>) -> Result<Option<String>> {
    value.map(written).transpose()
}

/// Columns by name.
pub trait Columns {
    fn int(&self, column: &str) -> Result<i64>;
    fn maybe_int(&self, column: &str) -> Result<Option<i64>>;
    fn text(&self, column: &str) -> Result<String>;
    fn maybe_text(&self, column: &str) -> Result<Option<String>>;
    fn maybe_blob(&self, column: &str) -> Result<Option<Vec<u8>>>;

    fn small(&self, column: &str) -> Result<u32> {
        let n = self.int(column)?;
        u32::try_from(n).map_err(|_| damaged(format!("{column} is {n}")))
    }

    fn count(&self, column: &str) -> Result<u64> {
        let n = self.int(column)?;
        u64::try_from(n).map_err(|_| damaged(format!("{column} is {n}")))
    }

    fn flag(&self, column: &str) -> Result<bool> {
        Ok(self.int(column)? != 0)
    }

    fn time(&self, column: &str) -> Result<Timestamp> {
        self.int(column).map(Timestamp::from_millis)
    }

    fn maybe_time(&self, column: &str) -> Result<Option<Timestamp>> {
        Ok(self.maybe_int(column)?.map(Timestamp::from_millis))
    }

    fn id<I: Id>(&self, column: &str) -> Result<I> {
        self.maybe_id(column)?.ok_or_else(|| damaged(format!("{column} is missing")))
    }

    fn maybe_id<I: Id>(&self, column: &str) -> Result<Option<I>> {
        let Some(blob) = self.maybe_blob(column)? else { return Ok(None) };
        let bytes = <[u8; 16]>::try_from(blob).map_err(|_| damaged(format!("{column} is not an id")))?;
        Ok(Some(I::of(bytes)))
    }

    fn json<T: DeserializeOwned>(&self, column: &str) -> Result<T> {
        serde_json::from_str(&self.text(column)?).map_err(|error| damaged(format!("{column}: {error}")))
    }

    fn maybe_json<T: DeserializeOwned>(&self, column: &str) -> Result<Option<T>> {
        let Some(text) = self.maybe_text(column)? else { return Ok(None) };
        serde_json::from_str(&text).map(Some).map_err(|error| damaged(format!("{column}: {error}")))
    }

    fn named<T>(&self, column: &str, named: impl Fn(&str) -> Option<T>) -> Result<T> {
        let name = self.text(column)?;
        named(&name).ok_or_else(|| damaged(format!("{column} is '{name}'")))
    }

    fn task_state(&self, column: &str) -> Result<TaskState> {
        let code = self.int(column)?;
        u16::try_from(code)
            .ok()
            .and_then(TaskState::from_code)
            .ok_or_else(|| damaged(format!("{column} is {code}, which is not a task code")))
    }

    fn lane(&self, column: &str) -> Result<Lane> {
        let n = self.int(column)?;
        u8::try_from(n)
            .ok()
            .and_then(Lane::from_number)
            .ok_or_else(|| damaged(format!("{column} is {n}, which is not a lane")))
    }
}

impl<R> Columns for R
where
    R: Row,
    for<'c> &'c str: ColumnIndex<R>,
    for<'r> i64: Decode<'r, <R as Row>::Database> + Type<<R as Row>::Database>,
    for<'r> Vec<u8>: Decode<'r, <R as Row>::Database> + Type<<R as Row>::Database>,
{
    fn int(&self, column: &str) -> Result<i64> {
        self.try_get(column).map_err(damaged)
    }

    fn maybe_int(&self, column: &str) -> Result<Option<i64>> {
        self.try_get(column).map_err(damaged)
    }

    fn text(&self, column: &str) -> Result<String> {
        self.maybe_text(column)?.ok_or_else(|| damaged(format!("{column} is missing")))
    }

    /// Out of its bytes: keys are kept as bytes in some tables, but all of them are text.
    fn maybe_text(&self, column: &str) -> Result<Option<String>> {
        let Some(bytes) = self.maybe_blob(column)? else { return Ok(None) };
        String::from_utf8(bytes).map(Some).map_err(|error| damaged(format!("{column}: {error}")))
    }

    fn maybe_blob(&self, column: &str) -> Result<Option<Vec<u8>>> {
        self.try_get(column).map_err(damaged)
    }
}

pub fn all<R, T>(rows: &[R], of: impl Fn(&R) -> Result<T>) -> Result<Vec<T>> {
    rows.iter().map(of).collect()
}
