//! One thread, virtual time, and an order of things that a seed decides.
//!
//! Everything of a simulated world runs here: a task that was woken is polled when its turn is
//! drawn; when none is awake, time jumps to the next timer. A task can be dropped at any await (that
//! is a crash) and left unpolled for a while (that is a pause). Nothing waits in real time.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use async_trait::async_trait;
use campanile_engine::Clock;
use campanile_model::Timestamp;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Polls without a tick of the clock after which a world is said to spin.
const MOST_POLLS_AT_ONE_INSTANT: u32 = 100_000;

/// The longest sleep of a clock that may be set, as the engine's own clock has it.
const LONGEST_NAP_MS: i64 = 1000;

/// Lines kept of what happened last.
const TRACE_KEEPS: usize = 400;

/// Chance, in a stream of its own for each who draws, so that one drawing more changes no other.
pub struct Luck(ChaCha8Rng);

impl Luck {
    pub fn new(seed: u64, of: &str) -> Luck {
        // FNV-1a: the same name gives the same stream in every build.
        let name = of
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
        Luck(ChaCha8Rng::seed_from_u64(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ name))
    }

    /// Whether something happens that happens so many times in a thousand.
    pub fn chance(&mut self, of_a_thousand: u32) -> bool {
        self.0.random_range(0..1000) < of_a_thousand
    }

    /// From `low` to `high`, both included.
    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        self.0.random_range(low..=high)
    }

    pub fn index(&mut self, len: usize) -> usize {
        self.0.random_range(0..len)
    }

    pub fn one_of<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.index(choices.len())].clone()
    }

    pub fn number(&mut self) -> u64 {
        self.0.random()
    }
}

pub type TaskNo = u64;

type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

enum Order {
    Spawn { no: TaskNo, name: String, task: Task },
    Kill(TaskNo),
    KillAfter { no: TaskNo, polls: u32 },
    Pause { no: TaskNo, until: i64 },
}

#[derive(Default)]
struct Shared {
    now: AtomicI64,
    timers: Mutex<BTreeMap<(i64, u64), Waker>>,
    next_number: Mutex<u64>,
    awake: Mutex<BTreeSet<TaskNo>>,
    orders: Mutex<Vec<Order>>,
    gone: Mutex<BTreeSet<TaskNo>>,
    trace: Mutex<Trace>,
}

#[derive(Default)]
struct Trace {
    aloud: bool,
    last: VecDeque<String>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("nobody panics while holding a lock of the runtime")
}

/// What those who live in the world may ask of the runtime.
#[derive(Clone, Default)]
pub struct Hands(Arc<Shared>);

impl Hands {
    /// True time, which no fault moves; milliseconds.
    pub fn now(&self) -> i64 {
        self.0.now.load(Ordering::Relaxed)
    }

    pub fn sleep_until(&self, at: i64) -> Sleep {
        Sleep { shared: Arc::clone(&self.0), at, registered: None }
    }

    pub fn sleep(&self, millis: i64) -> Sleep {
        self.sleep_until(self.now() + millis)
    }

    /// Lets the others go first.
    pub async fn step_aside(&self) {
        let mut stood_aside = false;
        std::future::poll_fn(|context| {
            if stood_aside {
                return Poll::Ready(());
            }
            stood_aside = true;
            context.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
    }

    pub fn spawn(&self, name: impl Into<String>, task: impl Future<Output = ()> + Send + 'static) -> TaskNo {
        let no = self.next_number();
        self.order(Order::Spawn { no, name: name.into(), task: Box::pin(task) });
        no
    }

    /// Drops the task where it stands.
    pub fn kill(&self, no: TaskNo) {
        self.order(Order::Kill(no));
    }

    /// Drops the task after so many more polls, wherever it stands then.
    pub fn kill_after(&self, no: TaskNo, polls: u32) {
        self.order(Order::KillAfter { no, polls });
    }

    /// The task is not polled before `until`; what wakes it meanwhile is kept.
    pub fn pause(&self, no: TaskNo, until: i64) {
        self.order(Order::Pause { no, until });
    }

    /// It has ended or was killed.
    pub fn is_gone(&self, no: TaskNo) -> bool {
        locked(&self.0.gone).contains(&no)
    }

    /// Writes down what happened; the text is made only where it is kept.
    pub fn note(&self, text: impl FnOnce() -> String) {
        let now = self.now();
        let mut trace = locked(&self.0.trace);
        let line = format!("{:>12.3}  {}", now as f64 / 1000.0, text());
        if trace.aloud {
            println!("{line}");
        }
        if trace.last.len() == TRACE_KEEPS {
            trace.last.pop_front();
        }
        trace.last.push_back(line);
    }

    pub fn last_notes(&self) -> Vec<String> {
        locked(&self.0.trace).last.iter().cloned().collect()
    }

    fn order(&self, order: Order) {
        locked(&self.0.orders).push(order);
    }

    fn next_number(&self) -> u64 {
        let mut number = locked(&self.0.next_number);
        *number += 1;
        *number
    }
}

/// A wait for a moment of true time.
pub struct Sleep {
    shared: Arc<Shared>,
    at: i64,
    registered: Option<(i64, u64)>,
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.shared.now.load(Ordering::Relaxed) >= self.at {
            return Poll::Ready(());
        }
        let key = self.registered.unwrap_or_else(|| {
            let mut number = locked(&self.shared.next_number);
            *number += 1;
            (self.at, *number)
        });
        self.registered = Some(key);
        locked(&self.shared.timers).insert(key, context.waker().clone());
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if let Some(key) = self.registered {
            locked(&self.shared.timers).remove(&key);
        }
    }
}

struct Alarm {
    no: TaskNo,
    shared: Arc<Shared>,
}

impl Wake for Alarm {
    fn wake(self: Arc<Self>) {
        locked(&self.shared.awake).insert(self.no);
    }
}

struct Running {
    name: String,
    task: Task,
    polls_left: Option<u32>,
    paused_until: i64,
}

/// The bench on which a world is run.
pub struct Runtime {
    hands: Hands,
    luck: Luck,
    tasks: BTreeMap<TaskNo, Running>,
    polls_at_this_instant: u32,
}

/// A world that is busy for ever at one instant.
#[derive(Debug)]
pub struct Spins {
    pub task: String,
}

impl Runtime {
    /// `aloud`: notes are printed as they come.
    pub fn new(seed: u64, start: i64, aloud: bool) -> Runtime {
        let hands = Hands::default();
        hands.0.now.store(start, Ordering::Relaxed);
        locked(&hands.0.trace).aloud = aloud;
        Runtime { hands, luck: Luck::new(seed, "order"), tasks: BTreeMap::new(), polls_at_this_instant: 0 }
    }

    pub fn hands(&self) -> Hands {
        self.hands.clone()
    }

    /// Runs the world up to `until`.
    pub fn run_until(&mut self, until: i64) -> Result<(), Spins> {
        loop {
            self.obey();
            match self.draw_awake() {
                Some(no) => self.poll(no)?,
                None if self.jump(until) => {}
                None => return Ok(()),
            }
        }
    }

    fn obey(&mut self) {
        loop {
            let orders = std::mem::take(&mut *locked(&self.hands.0.orders));
            if orders.is_empty() {
                return;
            }
            for order in orders {
                match order {
                    Order::Spawn { no, name, task } => {
                        self.tasks.insert(no, Running { name, task, polls_left: None, paused_until: i64::MIN });
                        locked(&self.hands.0.awake).insert(no);
                    }
                    Order::Kill(no) => self.remove(no),
                    Order::KillAfter { no, polls } => {
                        if let Some(running) = self.tasks.get_mut(&no) {
                            running.polls_left = Some(polls);
                        }
                    }
                    Order::Pause { no, until } => {
                        if let Some(running) = self.tasks.get_mut(&no) {
                            running.paused_until = until;
                        }
                    }
                }
            }
        }
    }

    fn remove(&mut self, no: TaskNo) {
        locked(&self.hands.0.awake).remove(&no);
        if let Some(running) = self.tasks.remove(&no) {
            drop(running.task);
        }
        locked(&self.hands.0.gone).insert(no);
    }

    fn draw_awake(&mut self) -> Option<TaskNo> {
        let now = self.hands.now();
        let mut awake = locked(&self.hands.0.awake);
        awake.retain(|no| self.tasks.contains_key(no));
        let may_go: Vec<TaskNo> = awake
            .iter()
            .copied()
            .filter(|no| self.tasks.get(no).is_some_and(|task| task.paused_until <= now))
            .collect();
        if may_go.is_empty() {
            return None;
        }
        let drawn = may_go[self.luck.index(may_go.len())];
        awake.remove(&drawn);
        Some(drawn)
    }

    fn poll(&mut self, no: TaskNo) -> Result<(), Spins> {
        let Some(running) = self.tasks.get_mut(&no) else { return Ok(()) };
        self.polls_at_this_instant += 1;
        if self.polls_at_this_instant > MOST_POLLS_AT_ONE_INSTANT {
            return Err(Spins { task: running.name.clone() });
        }
        let waker = Waker::from(Arc::new(Alarm { no, shared: Arc::clone(&self.hands.0) }));
        let ended = running.task.as_mut().poll(&mut Context::from_waker(&waker)).is_ready();
        let dies = match &mut running.polls_left {
            Some(0 | 1) => true,
            Some(polls) => {
                *polls -= 1;
                false
            }
            None => false,
        };
        if dies && !ended {
            let name = running.name.clone();
            self.hands.note(|| format!("{name} dies"));
        }
        if ended || dies {
            self.remove(no);
        }
        Ok(())
    }

    /// To the next moment at which something can happen, if that is not after `until`.
    fn jump(&mut self, until: i64) -> bool {
        let now = self.hands.now();
        let awake = locked(&self.hands.0.awake).clone();
        let unpaused = awake.iter().filter_map(|no| self.tasks.get(no)).map(|task| task.paused_until).min();
        let mut timers = locked(&self.hands.0.timers);
        let next = timers.keys().next().map(|(at, _)| *at).into_iter().chain(unpaused).min();
        let next = next.filter(|next| *next <= until);
        let reached = next.unwrap_or(until).max(now);
        self.hands.0.now.store(reached, Ordering::Relaxed);
        self.polls_at_this_instant = 0;
        let later = timers.split_off(&(reached, u64::MAX));
        let due = std::mem::replace(&mut *timers, later);
        drop(timers);
        for (_, waker) in due {
            waker.wake();
        }
        next.is_some()
    }
}

/// A machine's clock, which a fault may set.
#[derive(Clone)]
pub struct MachineClock {
    hands: Hands,
    offset_ms: Arc<AtomicI64>,
    uncertain_ms: Arc<AtomicI64>,
}

impl MachineClock {
    pub fn new(hands: &Hands) -> MachineClock {
        MachineClock { hands: hands.clone(), offset_ms: Arc::default(), uncertain_ms: Arc::default() }
    }

    /// Sets the clock so far ahead of true time (or behind it).
    pub fn set_offset(&self, millis: i64) {
        self.offset_ms.store(millis, Ordering::Relaxed);
    }

    /// How far from true time it believes that it may be.
    pub fn set_uncertainty(&self, millis: i64) {
        self.uncertain_ms.store(millis, Ordering::Relaxed);
    }

    fn read(&self) -> i64 {
        self.hands.now() + self.offset_ms.load(Ordering::Relaxed)
    }
}

#[async_trait]
impl Clock for MachineClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.read())
    }

    fn uncertainty(&self) -> Duration {
        Duration::from_millis(self.uncertain_ms.load(Ordering::Relaxed).unsigned_abs())
    }

    async fn sleep_until(&self, deadline: Timestamp) {
        let mut before = self.read();
        loop {
            let now = self.read();
            let left = deadline.millis() - now;
            if left <= 0 || now < before {
                return;
            }
            before = now;
            self.hands.sleep(left.min(LONGEST_NAP_MS)).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_jumps_to_the_next_timer_and_a_killed_task_stays_where_it_stood() {
        let mut runtime = Runtime::new(1, 0, false);
        let hands = runtime.hands();
        let told = Arc::new(Mutex::new(Vec::new()));
        let teller = |wait: i64| {
            let (hands, told) = (hands.clone(), Arc::clone(&told));
            async move {
                hands.sleep(wait).await;
                told.lock().unwrap().push((wait, hands.now()));
                hands.sleep(wait).await;
                told.lock().unwrap().push((wait, hands.now()));
            }
        };
        hands.spawn("an hour", teller(3_600_000));
        let paused = hands.spawn("paused", teller(1000));
        let killed = hands.spawn("killed", teller(2000));
        hands.pause(paused, 10_000);
        runtime.run_until(2500).unwrap();
        hands.kill(killed);
        runtime.run_until(4_000_000).unwrap();
        assert_eq!(*told.lock().unwrap(), [(2000, 2000), (1000, 11_000), (1000, 12_000), (3_600_000, 3_600_000)]);
        assert!(hands.is_gone(killed) && hands.is_gone(paused));
    }

    #[test]
    fn the_same_seed_gives_the_same_order_and_another_one_another() {
        let order = |seed: u64| {
            let mut runtime = Runtime::new(seed, 0, false);
            let hands = runtime.hands();
            let told = Arc::new(Mutex::new(Vec::new()));
            for n in 0..20 {
                let told = Arc::clone(&told);
                hands.spawn("one", async move { told.lock().unwrap().push(n) });
            }
            runtime.run_until(1).unwrap();
            Arc::into_inner(told).expect("all have ended").into_inner().unwrap()
        };
        assert_eq!(order(7), order(7));
        assert_ne!(order(7), order(8));
    }

    #[test]
    fn a_world_that_never_lets_time_pass_is_found_out() {
        let mut runtime = Runtime::new(1, 0, false);
        let hands = runtime.hands();
        let spinner = hands.clone();
        hands.spawn("spinner", async move {
            loop {
                spinner.step_aside().await;
            }
        });
        assert_eq!(runtime.run_until(1).unwrap_err().task, "spinner");
    }
}
