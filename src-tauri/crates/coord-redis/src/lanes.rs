//! Ready lanes in Redis: lists of ids, and a hash that knows where each stands, changed by scripts only.
//!
//! All keys of a group stand under one hash tag, so that every verb is one step. An id is 16 bytes in a list, which
//! keeps the largest one under 100 KB; what the scripts share, and the layout, is in `scripts/lanes/group.lua`.

use std::time::Duration;

use async_trait::async_trait;
use campanile_coord::Result;
use campanile_coord::lanes::{FILLED_TO, Grasp, IN_HAND, InLane, Kept, Lanes, Shelf, WINDOW};
use campanile_model::{Lane, TaskId};
use redis::{Script, ScriptInvocation};

use crate::coord::away;
use crate::place::Redis;
use crate::{PREFIX, encoded, ms, scripts};

scripts! {
    REFILL = "lanes/group.lua" "lanes/refill.lua";
    TAKE = "lanes/group.lua" "lanes/take.lua";
    DONE = "lanes/group.lua" "lanes/done.lua";
    GIVE_BACK = "lanes/group.lua" "lanes/give_back.lua";
    PUT_ASIDE = "lanes/group.lua" "lanes/put_aside.lua";
    KEEP = "lanes/group.lua" "lanes/keep.lua";
}

/// Ids that one script moves: while it runs Redis does nothing else.
const AT_ONCE: usize = 500;

pub struct RedisLanes {
    redis: Redis,
    on_shelf: Duration,
}

impl RedisLanes {
    /// `on_shelf`: how long something stays on a shelf before it is looked at anew.
    pub fn on(redis: &Redis, on_shelf: Duration) -> RedisLanes {
        RedisLanes { redis: redis.clone(), on_shelf }
    }

    async fn run<T: redis::FromRedisValue>(&self, script: &ScriptInvocation<'_>) -> Result<T> {
        self.redis.line().run(script).await.map_err(away)
    }

    /// One step for each so many of them.
    async fn step(&self, group: &str, script: &'static Script, first: &[&[u8]], ids: &[InLane]) -> Result<()> {
        for some in ids.chunks(AT_ONCE) {
            let mut script = script.key(group_prefix(group));
            for argument in first {
                script.arg(*argument);
            }
            for id in some {
                script.arg(member(id).as_slice());
            }
            self.run::<i64>(&script).await?;
        }
        Ok(())
    }
}

#[async_trait]
impl Lanes for RedisLanes {
    async fn refill(&self, group: &str, lane: Lane, ids: &[TaskId]) -> Result<usize> {
        let mut some = ids.chunks(AT_ONCE);
        let mut next = some.next().unwrap_or_default();
        loop {
            let mut script = REFILL.key(group_prefix(group));
            script.arg(lane.number()).arg(FILLED_TO);
            for id in next {
                script.arg(id.bytes().as_slice());
            }
            let room: usize = self.run(&script).await?;
            match some.next() {
                Some(more) if room > 0 => next = more,
                _ => return Ok(room),
            }
        }
    }

    async fn take(&self, group: &str, grasp: &Grasp<'_>) -> Result<Vec<InLane>> {
        let mut script = TAKE.key(group_prefix(group));
        script.arg(grasp.taker).arg(grasp.most).arg(IN_HAND).arg(ms(grasp.lease)).arg(grasp.down_to.number());
        for shelf in grasp.shelves {
            script.arg(shelf_name(shelf));
        }
        let taken: Vec<Vec<u8>> = self.run(&script).await?;
        Ok(taken.iter().filter_map(|taken| read(taken)).collect())
    }

    async fn done(&self, group: &str, taker: &str, ids: &[InLane]) -> Result<()> {
        self.step(group, &DONE, &[taker.as_bytes()], ids).await
    }

    async fn give_back(&self, group: &str, taker: &str, ids: &[InLane]) -> Result<()> {
        // What was put at the head last stands first.
        for some in ids.rchunks(AT_ONCE) {
            self.step(group, &GIVE_BACK, &[taker.as_bytes(), WINDOW.to_string().as_bytes()], some).await?;
        }
        Ok(())
    }

    async fn put_aside(&self, group: &str, taker: &str, shelf: &Shelf, ids: &[InLane]) -> Result<()> {
        let (shelf, window) = (shelf_name(shelf), WINDOW.to_string());
        self.step(group, &PUT_ASIDE, &[taker.as_bytes(), shelf.as_bytes(), window.as_bytes()], ids).await
    }

    async fn keep(&self, group: &str) -> Result<Kept> {
        let mut script = KEEP.key(group_prefix(group));
        script.arg(ms(self.on_shelf)).arg(AT_ONCE).arg(WINDOW);
        let (returned, again) = self.run(&script).await?;
        Ok(Kept { returned, again })
    }
}

fn group_prefix(group: &str) -> String {
    format!("{PREFIX}{{{}}}:", encoded(group))
}

/// One word of a few bytes, whatever it stands for.
fn shelf_name(shelf: &Shelf) -> String {
    format!("{:016x}", digest(&shelf.0))
}

/// FNV-1a: the same on every node and in every version. Two shelves that fall together only cost a look too many.
fn digest(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

fn member(id: &InLane) -> [u8; 17] {
    let mut member = [b'0' + id.lane.number(); 17];
    member[1..].copy_from_slice(&id.task.bytes());
    member
}

/// None: nobody of this version wrote it.
fn read(member: &[u8]) -> Option<InLane> {
    let (lane, id) = member.split_first()?;
    let lane = Lane::from_number(lane.checked_sub(b'0')?)?;
    Some(InLane { lane, task: TaskId::from_bytes(id.try_into().ok()?) })
}
