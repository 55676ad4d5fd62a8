//! Reads a whole Redis key by key and names every key that a good tenant would not leave there.
//!
//! For tests, after whatever puts a load on it: no key without an expiry, no value over 10 KB, no collection of 10,000
//! members or 100 KB, and nothing that does not carry our prefix.

use std::fmt;

use redis::aio::{ConnectionLike, MultiplexedConnection};
use redis::{FromRedisValue, RedisResult, Value};

use crate::PREFIX;
use crate::place::{Place, Redis};

const LARGEST_VALUE: usize = 10 * 1024;
const MOST_MEMBERS: usize = 10_000;
const LARGEST_COLLECTION: u64 = 100 * 1024;

/// Keys, and members of a collection, that one step looks at.
const STEP: usize = 500;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Not one of ours.
    Stranger,
    NoExpiry,
    /// A value of so many bytes.
    LargeValue(usize),
    /// A collection of so many members.
    ManyMembers(usize),
    /// A collection of so many bytes.
    LargeCollection(u64),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breach {
    pub key: String,
    pub fault: Fault,
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {:?}", self.key, self.fault)
    }
}

/// What was read.
#[derive(Debug, Default)]
pub struct Reading {
    pub keys: usize,
    pub breaches: Vec<Breach>,
}

/// Reads all of it.
pub async fn read(redis: &Redis) -> RedisResult<Reading> {
    let line = redis.line();
    let place: &Place = &line.place;
    let mut reading = Reading::default();
    for mut node in place.masters().await? {
        let mut cursor = 0u64;
        loop {
            let mut scan = redis::cmd("SCAN");
            let (next, keys): (u64, Vec<Vec<u8>>) =
                scan.arg(cursor).arg("COUNT").arg(STEP).query_async(&mut node).await?;
            for key in keys {
                reading.keys += 1;
                let faults = faults_of(&mut node, &key).await?;
                let name = String::from_utf8_lossy(&key).into_owned();
                reading.breaches.extend(faults.into_iter().map(|fault| Breach { key: name.clone(), fault }));
            }
            cursor = next;
            if cursor == 0 {
                break;
            }
        }
    }
    Ok(reading)
}

async fn ask<T: FromRedisValue>(node: &mut impl ConnectionLike, command: &[&str], key: &[u8]) -> RedisResult<T> {
    let mut asked = redis::cmd(command[0]);
    asked.arg(&command[1..]).arg(key).query_async(node).await
}

async fn faults_of(node: &mut MultiplexedConnection, key: &[u8]) -> RedisResult<Vec<Fault>> {
    let mut faults = Vec::new();
    if !key.starts_with(PREFIX.as_bytes()) {
        faults.push(Fault::Stranger);
    }
    match ask::<i64>(node, &["PTTL"], key).await? {
        -1 => faults.push(Fault::NoExpiry),
        // It has expired since the walk met it.
        -2 => return Ok(Vec::new()),
        _ => {}
    }
    let kind: String = ask(node, &["TYPE"], key).await?;
    if kind == "string" {
        let length: usize = ask(node, &["STRLEN"], key).await?;
        if length > LARGEST_VALUE {
            faults.push(Fault::LargeValue(length));
        }
        return Ok(faults);
    }
    let count = match kind.as_str() {
        "list" => "LLEN",
        "hash" => "HLEN",
        "set" => "SCARD",
        "zset" => "ZCARD",
        _ => "XLEN",
    };
    let members: usize = ask(node, &[count], key).await?;
    if members >= MOST_MEMBERS {
        faults.push(Fault::ManyMembers(members));
    }
    let mut usage = redis::cmd("MEMORY");
    let bytes: Option<u64> = usage.arg("USAGE").arg(key).arg("SAMPLES").arg(0).query_async(node).await?;
    if let Some(bytes) = bytes.filter(|bytes| *bytes >= LARGEST_COLLECTION) {
        faults.push(Fault::LargeCollection(bytes));
    }
    let longest = longest_of(node, key, &kind, members).await?;
    if longest > LARGEST_VALUE {
        faults.push(Fault::LargeValue(longest));
    }
    Ok(faults)
}

/// The longest field, value or member of a collection.
async fn longest_of(node: &mut MultiplexedConnection, key: &[u8], kind: &str, members: usize) -> RedisResult<usize> {
    let mut longest = 0;
    if kind == "list" {
        for from in (0..members).step_by(STEP) {
            let mut range = redis::cmd("LRANGE");
            let some: Vec<Vec<u8>> = range.arg(key).arg(from).arg(from + STEP - 1).query_async(node).await?;
            longest = some.iter().map(Vec::len).fold(longest, usize::max);
        }
        return Ok(longest);
    }
    let command = match kind {
        "hash" => "HSCAN",
        "set" => "SSCAN",
        "zset" => "ZSCAN",
        _ => return Ok(0),
    };
    let mut cursor = 0u64;
    loop {
        let mut scan = redis::cmd(command);
        let (next, some): (u64, Vec<Value>) =
            scan.arg(key).arg(cursor).arg("COUNT").arg(STEP).query_async(node).await?;
        let length = |value: &Value| redis::from_redis_value_ref::<Vec<u8>>(value).map_or(0, |bytes| bytes.len());
        longest = some.iter().map(length).fold(longest, usize::max);
        cursor = next;
        if cursor == 0 {
            return Ok(longest);
        }
    }
}
