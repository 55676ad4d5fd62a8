//! Traffic windows in Redis: one hash for each database and second, which expires after ten.

use std::time::Duration;

use async_trait::async_trait;
use campanile_coord::Result;
use campanile_coord::traffic::{Counts, SECONDS_KEPT, Traffic, Window};
use redis::ScriptInvocation;

use crate::coord::away;
use crate::place::Redis;
use crate::{PREFIX, encoded, ms, scripts};

scripts! {
    COUNT = "traffic/count.lua";
    DRAW = "traffic/draw.lua";
    LOOK = "traffic/look.lua";
}

/// A key lives for as long as it is asked for and a little more, those of different seconds not equally long.
const LIFE: Duration = Duration::from_secs(SECONDS_KEPT as u64);
const SCATTER_MS: i64 = 1000;

pub struct RedisTraffic {
    redis: Redis,
}

impl RedisTraffic {
    pub fn on(redis: &Redis) -> RedisTraffic {
        RedisTraffic { redis: redis.clone() }
    }

    async fn run<T: redis::FromRedisValue>(&self, script: &ScriptInvocation<'_>) -> Result<T> {
        self.redis.line().run(script).await.map_err(away)
    }

    async fn count(&self, database: &str, second: i64, how: &str, whose: char, counts: Counts) -> Result<()> {
        let mut script = COUNT.key(key(database, second));
        script.arg(life(second)).arg(how);
        let Counts { selects, inserts, updates, deletes } = counts;
        for (kind, figure) in [('s', selects), ('i', inserts), ('u', updates), ('d', deletes)] {
            script.arg(format!("{whose}{kind}")).arg(figure);
        }
        self.run::<i64>(&script).await.map(drop)
    }
}

#[async_trait]
impl Traffic for RedisTraffic {
    async fn metered(&self, database: &str, second: i64, counts: Counts) -> Result<()> {
        self.count(database, second, "add", 'm', counts).await
    }

    async fn probed(&self, database: &str, second: i64, counts: Counts) -> Result<()> {
        self.count(database, second, "set", 'p', counts).await
    }

    async fn windows(&self, database: &str, through: i64) -> Result<Vec<Window>> {
        let seconds = through - SECONDS_KEPT + 1..=through;
        let mut script = LOOK.prepare_invoke();
        for second in seconds.clone() {
            script.key(key(database, second));
        }
        let figures: Vec<[Option<u64>; 8]> = self.run(&script).await?;
        let counts = |figures: &[Option<u64>]| match *figures {
            [Some(selects), Some(inserts), Some(updates), Some(deletes)] => {
                Some(Counts { selects, inserts, updates, deletes })
            }
            _ => None,
        };
        let windows = seconds.zip(figures).map(|(second, figures)| Window {
            second,
            metered: counts(&figures[..4]),
            probed: counts(&figures[4..]),
        });
        Ok(windows.filter(|window| window.metered.is_some() || window.probed.is_some()).collect())
    }

    async fn draw(&self, database: &str, round: i64, allowance: u32, wanted: u32) -> Result<u32> {
        let mut script = DRAW.key(key(database, round));
        script.arg(life(round)).arg(allowance).arg(wanted);
        self.run(&script).await
    }
}

/// All seconds of a database stand under its hash tag, so that one script may look at them.
fn key(database: &str, second: i64) -> String {
    format!("{PREFIX}traffic:{{{}}}:{second}", encoded(database))
}

fn life(second: i64) -> u64 {
    ms(LIFE) + second.wrapping_mul(7919).rem_euclid(SCATTER_MS).unsigned_abs()
}
