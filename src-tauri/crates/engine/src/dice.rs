//! The only way chance enters the engine: jitter, random routes, and new ids.

use std::sync::{Mutex, PoisonError};

use campanile_model::{AlarmId, DataId, InstanceId, JobId, QuestionId, RequestId, TaskId, Timestamp};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

pub struct Dice(Mutex<ChaCha8Rng>);

impl Dice {
    /// The same seed throws the same numbers.
    pub fn seeded(seed: u64) -> Dice {
        Dice(Mutex::new(ChaCha8Rng::seed_from_u64(seed)))
    }

    pub fn fair() -> Dice {
        Dice::seeded(rand::random())
    }

    /// From 0 to 1.
    pub fn fraction(&self) -> f64 {
        self.throw(RngExt::random::<f64>)
    }

    /// From 0 to `bound`, exclusive; 0 where that is empty.
    pub fn below(&self, bound: usize) -> usize {
        if bound == 0 { 0 } else { self.throw(|rng| rng.random_range(0..bound)) }
    }

    pub fn job_id(&self, now: Timestamp) -> JobId {
        JobId::new(now.millis(), self.bits())
    }

    pub fn instance_id(&self, now: Timestamp) -> InstanceId {
        InstanceId::new(now.millis(), self.bits())
    }

    pub fn task_id(&self, now: Timestamp) -> TaskId {
        TaskId::new(now.millis(), self.bits())
    }

    pub fn alarm_id(&self, now: Timestamp) -> AlarmId {
        AlarmId::new(now.millis(), self.bits())
    }

    pub fn request_id(&self, now: Timestamp) -> RequestId {
        RequestId::new(now.millis(), self.bits())
    }

    pub fn question_id(&self, now: Timestamp) -> QuestionId {
        QuestionId::new(now.millis(), self.bits())
    }

    pub fn data_id(&self, now: Timestamp) -> DataId {
        DataId::new(now.millis(), self.bits())
    }

    fn bits(&self) -> [u8; 10] {
        self.throw(RngExt::random)
    }

    fn throw<T>(&self, with: impl FnOnce(&mut ChaCha8Rng) -> T) -> T {
        with(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
