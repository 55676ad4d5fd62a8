//! Logs of a team: what this node heard lies here, and what others heard is fetched from them, so that every node shows
//! the whole of a log.
//!
//! Who keeps which part of a log is a row ([`LogPart`]). Its first part belongs to the node that pushed the attempt and is
//! noted a moment after its first line, many at once; a node to which an executor comes with an attempt under way notes the
//! next part before anything is written to it. A part whose node is away shows as one line in its place.
//!
//! A place is the number of a part times [`PARTS`], and the place in it.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use campanile_engine::Clock;
use campanile_engine::logs::{LogLine, LogPage, LogStream, Logs};
use campanile_model::retention::{RETENTION, Retention};
use campanile_model::{Code, Fault, TaskId, Timestamp};
use campanile_store::{LogPart, Store, StoreError};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep};

use super::FileLogs;
use super::neighbours::{Asked, Given, MOST_LINES};
use super::shelf::{Of, PART_ENDS};

/// Whole numbers of a browser end at 2^53; that is a part for each of 128 moves of an executor.
const PARTS: u64 = PART_ENDS << 1;

const LAST_PART: u32 = 127;

/// In the place in a part: that its node is away has been said.
const SAID: u64 = PART_ENDS;

/// Parts that begin together are noted together: ten times a second at most.
const GATHERS: Duration = Duration::from_millis(100);

/// Whoever reads a log from its beginning and finds nothing looks once more: it may have just begun at another node.
const LOOKS_AGAIN_AFTER: Duration = Duration::from_millis(150);

/// Between two tries at a database that does not answer.
const TRY_AGAIN: Duration = Duration::from_secs(1);

/// How often a node looks through its own logs for what is too old.
const PURGE_EVERY: Duration = Duration::from_secs(600);

/// Attempts that are remembered of each kind. What is forgotten of first parts is noted once more, which changes nothing;
/// of those taken up these are more than executors bring along.
const REMEMBERED: usize = 65_536;

/// The way to the lines that other nodes keep.
#[async_trait]
pub(crate) trait Others: Send + Sync {
    /// From a place in that part on, at most `limit` lines. None: its node is away.
    async fn read(&self, part: &LogPart, from: i64, limit: usize) -> Option<LogPage>;
}

/// Who keeps a part: what the node is called, for people, and what its data folder is known by, for the rest.
pub(crate) fn keeper(called: &str, folder: &str) -> String {
    let short: String = called.chars().take(50).collect();
    format!("{short}#{folder}")
}

/// What the keeper is known by, whatever it is called by now.
pub(crate) fn known_by(keeper: &str) -> &str {
    keeper.rsplit_once('#').map_or(keeper, |(_, folder)| folder)
}

fn called(keeper: &str) -> &str {
    keeper.rsplit_once('#').map_or(keeper, |(called, _)| called)
}

pub(crate) struct TeamLogs {
    own: FileLogs,
    keeper: String,
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    others: Box<dyn Others>,
    begun: Mutex<Begun>,
    owes: Notify,
}

type Attempt = (TaskId, u32);

#[derive(Default)]
struct Begun {
    /// Attempts whose part is noted, or is about to be.
    noted: HashSet<Attempt>,
    /// Of those that began elsewhere, the part that is written here; and in which order they came.
    taken_up: HashMap<Attempt, u32>,
    came: VecDeque<Attempt>,
    /// To be noted.
    owed: Vec<LogPart>,
}

impl Begun {
    fn takes_up(&mut self, attempt: Attempt, part: u32) {
        if self.taken_up.insert(attempt, part).is_none() {
            self.came.push_back(attempt);
        }
        if self.came.len() > REMEMBERED
            && let Some(oldest) = self.came.pop_front()
        {
            self.taken_up.remove(&oldest);
        }
    }
}

impl TeamLogs {
    pub fn new(
        own: FileLogs,
        keeper: String,
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        others: Box<dyn Others>,
    ) -> TeamLogs {
        TeamLogs { own, keeper, store, clock, others, begun: Mutex::default(), owes: Notify::new() }
    }

    /// Lines that are kept here, for another node.
    pub async fn give(&self, asked: &Asked) -> Result<Given, Fault> {
        let not_here = || Code::LogUnavailable.fault().with("task", &asked.task).with("reason", &self.keeper);
        let task: TaskId = asked.task.parse().map_err(|_| not_here())?;
        // Whoever asks may have been led astray by an address that is somebody else's now.
        if !self.is_ours(&asked.keeper) {
            return Err(not_here());
        }
        let of = Of { task, attempt: asked.attempt, part: asked.part };
        Ok(self.own.read_part(of, asked.from, asked.limit.min(MOST_LINES)).await?.into())
    }

    fn begun(&self) -> MutexGuard<'_, Begun> {
        self.begun.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_ours(&self, keeper: &str) -> bool {
        known_by(keeper) == known_by(&self.keeper)
    }

    /// Notes what begins, and lets go of what is old; never ends by itself.
    pub async fn run(&self) {
        let mut purge_at = Instant::now();
        loop {
            tokio::select! {
                () = self.owes.notified() => {}
                () = tokio::time::sleep_until(purge_at) => {
                    self.purge_own().await;
                    purge_at = Instant::now() + PURGE_EVERY;
                }
            }
            sleep(GATHERS).await;
            while let Err(error) = self.note().await {
                tracing::warn!(error = &error as &dyn std::error::Error, "who keeps parts of logs cannot be noted");
                sleep(TRY_AGAIN).await;
            }
        }
    }

    /// Notes what is owed.
    pub async fn note(&self) -> Result<(), StoreError> {
        let owed = std::mem::take(&mut self.begun().owed);
        if owed.is_empty() {
            return Ok(());
        }
        let noted = self.store.note_log_parts(&owed).await;
        if noted.is_err() {
            self.begun().owed.extend(owed);
        }
        noted
    }

    /// The team's sweeper sweeps where it is; each node looks after its own files.
    async fn purge_own(&self) {
        let retention: Retention = match self.store.setting(RETENTION).await {
            Ok(Some(value)) => serde_json::from_value(value).unwrap_or_default(),
            Ok(None) => Retention::default(),
            Err(_) => return,
        };
        let before = self.clock.now().plus_seconds(-i64::from(retention.log_days) * 86_400);
        self.own.purge(before, u64::from(retention.log_gigabytes) * 1_000_000_000).await;
    }

    /// The parts of an attempt, in order.
    async fn parts(&self, task: TaskId, attempt: u32) -> Result<Vec<LogPart>, Fault> {
        let mut parts: Vec<LogPart> = self.store.log_parts(&[task]).await?;
        parts.extend(self.begun().owed.iter().filter(|part| part.task == task).cloned());
        parts.retain(|part| part.attempt == attempt);
        // What stands in the store goes before what is to be noted.
        parts.sort_by_key(|part| part.part);
        parts.dedup_by_key(|part| part.part);
        if parts.first().is_none_or(|first| first.part > 0) && self.own.has(Of { task, attempt, part: 0 }).await {
            // From before this node kept its logs for a team, or from a life that ended before it could be noted.
            let since = Timestamp::EPOCH;
            parts.insert(0, LogPart { task, attempt, part: 0, keeper: self.keeper.clone(), since });
        }
        Ok(parts)
    }

    /// None: its node is away.
    async fn read_part(&self, part: &LogPart, from: i64, limit: usize) -> Result<Option<LogPage>, Fault> {
        if self.is_ours(&part.keeper) {
            let of = Of { task: part.task, attempt: part.attempt, part: part.part };
            return self.own.read_part(of, from, limit).await.map(Some);
        }
        Ok(self.others.read(part, from, limit).await)
    }

    /// So many bytes before the end, or little more or less: at the beginning of a line.
    async fn place_from_end(&self, parts: &[LogPart], bytes: u64) -> Result<u64, Fault> {
        let mut left = bytes;
        for part in parts.iter().rev() {
            let from = i64::try_from(left).unwrap_or(i64::MAX);
            let Some(page) = self.read_part(part, -from, usize::MAX >> 1).await? else { continue };
            let first = page.starts.first().copied().unwrap_or(0);
            if first > 0 {
                return Ok(base(part) + first);
            }
            left = left.saturating_sub(page.lines.iter().map(|line| line.text.len() as u64).sum());
            if left == 0 {
                return Ok(base(part));
            }
        }
        Ok(0)
    }
}

fn base(part: &LogPart) -> u64 {
    u64::from(part.part) * PARTS
}

/// Stands where the lines of an absent node would.
fn away(part: &LogPart) -> LogLine {
    let called = called(&part.keeper);
    let text = format!(
        "[campanile: lines that follow here are at node {called}, which is away / 此处的日志在节点 {called} 上，该节点目前不可用]"
    );
    LogLine { at: part.since, stream: LogStream::Log, text }
}

#[async_trait]
impl Logs for TeamLogs {
    async fn append(&self, task: TaskId, attempt: u32, lines: &[LogLine]) {
        let Some(first) = lines.first() else { return };
        let part = {
            let mut begun = self.begun();
            let part = begun.taken_up.get(&(task, attempt)).copied().unwrap_or(0);
            if part == 0 && begun.noted.insert((task, attempt)) {
                let keeper = self.keeper.clone();
                begun.owed.push(LogPart { task, attempt, part, keeper, since: first.at });
                if begun.noted.len() > REMEMBERED {
                    begun.noted.clear();
                }
                self.owes.notify_one();
            }
            part
        };
        self.own.append_to(Of { task, attempt, part }, lines).await;
    }

    async fn take_up(&self, attempts: &[Attempt]) -> Result<(), StoreError> {
        if attempts.is_empty() {
            return Ok(());
        }
        // What began here is this node's own, however short it has been here.
        self.note().await?;
        let tasks: Vec<TaskId> = attempts.iter().map(|(task, _)| *task).collect();
        let mut open: BTreeSet<Attempt> = attempts.iter().copied().collect();
        while !open.is_empty() {
            let parts = self.store.log_parts(&tasks).await?;
            let last: HashMap<Attempt, &LogPart> = parts.iter().map(|part| ((part.task, part.attempt), part)).collect();
            let mut next = Vec::new();
            for (task, attempt) in open.clone() {
                let part = match last.get(&(task, attempt)) {
                    Some(part) if self.is_ours(&part.keeper) || part.part == LAST_PART => {
                        self.begun().takes_up((task, attempt), part.part);
                        open.remove(&(task, attempt));
                        continue;
                    }
                    Some(part) => part.part + 1,
                    // Its lines are here, and the life that wrote them could not note it any more.
                    None if self.own.has(Of { task, attempt, part: 0 }).await => 0,
                    // The first part is for the node that pushed it, which may not have noted it yet.
                    None => 1,
                };
                next.push(LogPart { task, attempt, part, keeper: self.keeper.clone(), since: self.clock.now() });
            }
            // Where another node notes the same part it may have been faster; then that is seen now.
            self.store.note_log_parts(&next).await?;
        }
        Ok(())
    }

    async fn read(&self, task: TaskId, attempt: u32, from: i64, limit: usize) -> Result<LogPage, Fault> {
        let mut parts = self.parts(task, attempt).await?;
        if parts.is_empty() && from == 0 {
            sleep(LOOKS_AGAIN_AFTER).await;
            parts = self.parts(task, attempt).await?;
        }
        let mut page = LogPage { at_end: true, ..LogPage::default() };
        page.next = match u64::try_from(from) {
            Ok(place) => place,
            Err(_) => self.place_from_end(&parts, from.unsigned_abs()).await?,
        };
        let unread = parts.iter().filter(|part| base(part) + PARTS > page.next).collect::<Vec<_>>();
        for (at, part) in unread.iter().enumerate() {
            let base = base(part);
            let place = page.next.saturating_sub(base);
            let (said, place) = (place & SAID > 0, place & (SAID - 1));
            let signed = i64::try_from(place).unwrap_or(i64::MAX);
            match self.read_part(part, signed, limit - page.lines.len()).await? {
                Some(piece) => {
                    page.starts.extend(piece.starts.iter().map(|start| base + start));
                    page.lines.extend(piece.lines);
                    page.next = base + piece.next;
                    page.at_end = piece.at_end;
                }
                None => {
                    if !said {
                        page.starts.push(base + place);
                        page.lines.push(away(part));
                    }
                    // Where it comes back, reading goes on behind what was read.
                    page.next = base + place + SAID;
                    page.at_end = true;
                }
            }
            let Some(next) = unread.get(at + 1).filter(|_| page.at_end) else { break };
            page.next = self::base(next);
            if page.lines.len() >= limit {
                page.at_end = false;
                break;
            }
        }
        Ok(page)
    }

    async fn attempts(&self, task: TaskId) -> Result<Vec<u32>, Fault> {
        let mut attempts: BTreeSet<u32> = self.own.attempts(task).await?.into_iter().collect();
        attempts.extend(self.store.log_parts(&[task]).await?.iter().map(|part| part.attempt));
        Ok(attempts.into_iter().collect())
    }

    async fn remove(&self, tasks: &[TaskId]) {
        self.own.remove(tasks).await;
    }

    async fn purge(&self, before: Timestamp, most_bytes: u64) {
        self.own.purge(before, most_bytes).await;
    }
}

#[cfg(test)]
mod tests {
    use campanile_engine::SystemClock;
    use campanile_store::LogStore as _;
    use campanile_store_sqlite::SqliteStore;

    use super::*;

    const BEGAN: i64 = 1_795_000_000_000;

    /// A network of nodes that keep logs, any of which may be away.
    #[derive(Default)]
    struct Net {
        logs: Mutex<HashMap<String, FileLogs>>,
        away: Mutex<HashSet<String>>,
    }

    impl Net {
        fn goes(&self, node: &str) {
            self.away.lock().unwrap_or_else(PoisonError::into_inner).insert(node.to_owned());
        }

        fn comes(&self, node: &str) {
            self.away.lock().unwrap_or_else(PoisonError::into_inner).remove(node);
        }
    }

    #[async_trait]
    impl Others for Arc<Net> {
        async fn read(&self, part: &LogPart, from: i64, limit: usize) -> Option<LogPage> {
            let node = known_by(&part.keeper);
            if self.away.lock().unwrap_or_else(PoisonError::into_inner).contains(node) {
                return None;
            }
            let logs = self.logs.lock().unwrap_or_else(PoisonError::into_inner).get(node).cloned()?;
            let of = Of { task: part.task, attempt: part.attempt, part: part.part };
            logs.read_part(of, from, limit).await.ok()
        }
    }

    struct Team {
        folder: tempfile::TempDir,
        store: Arc<SqliteStore>,
        net: Arc<Net>,
    }

    impl Team {
        async fn new() -> Team {
            let folder = tempfile::tempdir().expect("a folder");
            let store = Arc::new(SqliteStore::open(&folder.path().join("db")).await.expect("a database"));
            Team { folder, store, net: Arc::default() }
        }

        /// A life of it.
        fn node(&self, id: &str) -> TeamLogs {
            let own = FileLogs::new(self.folder.path().join(id));
            self.net.logs.lock().unwrap_or_else(PoisonError::into_inner).insert(id.to_owned(), own.clone());
            let clock = Arc::new(SystemClock);
            TeamLogs::new(own, keeper("节点", id), self.store.clone(), clock, Box::new(self.net.clone()))
        }
    }

    fn task() -> TaskId {
        TaskId::new(BEGAN, [7; 10])
    }

    async fn says(node: &TeamLogs, texts: &[&str]) {
        let line = |text: &&str| LogLine {
            at: Timestamp::from_millis(BEGAN),
            stream: LogStream::Stdout,
            text: (*text).to_owned(),
        };
        node.append(task(), 1, &texts.iter().map(line).collect::<Vec<_>>()).await;
    }

    /// From a place to the end, so many lines at a time; and where it ended.
    async fn reads(node: &TeamLogs, from: i64, limit: usize) -> (Vec<String>, i64) {
        let (mut texts, mut from) = (Vec::new(), from);
        loop {
            let page = node.read(task(), 1, from, limit).await.expect("a page");
            assert_eq!(page.lines.len(), page.starts.len());
            assert!(page.at_end || !page.lines.is_empty(), "who reads would take it for the end");
            texts.extend(page.lines.into_iter().map(|line| line.text));
            from = i64::try_from(page.next).expect("small");
            if page.at_end {
                return (texts, from);
            }
        }
    }

    #[tokio::test]
    async fn a_log_is_read_whole_at_every_node_in_the_order_of_its_parts() {
        let team = Team::new().await;
        let (one, two, three) = (team.node("a"), team.node("b"), team.node("c"));
        says(&one, &["1", "2", "3"]).await;
        assert_eq!(reads(&one, 0, 100).await.0, ["1", "2", "3"], "before it is noted, too");
        one.note().await.expect("it is noted");
        // Its executor goes to another node, and comes back.
        two.take_up(&[(task(), 1)]).await.expect("it is taken up");
        says(&two, &["4", "5"]).await;
        one.take_up(&[(task(), 1)]).await.expect("it is taken up");
        says(&one, &["6"]).await;
        let whole = ["1", "2", "3", "4", "5", "6"];
        for node in [&one, &two, &three] {
            for limit in [1, 2, 4, 100] {
                assert_eq!(reads(node, 0, limit).await.0, whole, "{limit} lines at a time");
            }
        }
        let parts = team.store.log_parts(&[task()]).await.expect("parts");
        let kept: Vec<_> = parts.iter().map(|part| (part.part, known_by(&part.keeper))).collect();
        assert_eq!(kept, [(0, "a"), (1, "b"), (2, "a")]);
        assert_eq!(three.attempts(task()).await.expect("attempts"), [1]);
        // Nothing of it is read twice by who follows it.
        let (_, end) = reads(&three, 0, 100).await;
        says(&one, &["7"]).await;
        assert_eq!(reads(&three, end, 100).await.0, ["7"]);
        // A new life goes on where the old one was.
        let again = team.node("a");
        again.take_up(&[(task(), 1)]).await.expect("it is taken up");
        says(&again, &["8"]).await;
        assert_eq!(reads(&three, 0, 100).await.0.join(""), "12345678");
        let end = three.read(task(), 1, -30, 100).await.expect("a page");
        assert_eq!(end.lines.last().map(|line| line.text.as_str()), Some("8"));
        assert!(end.lines.len() < 8, "{:?}", end.lines);
    }

    #[tokio::test]
    async fn a_part_whose_node_is_away_says_so_in_its_place_and_is_there_again_with_its_node() {
        let team = Team::new().await;
        let (one, two, three) = (team.node("a"), team.node("b"), team.node("c"));
        says(&one, &["1", "2"]).await;
        one.note().await.expect("it is noted");
        two.take_up(&[(task(), 1)]).await.expect("it is taken up");
        says(&two, &["3"]).await;
        team.net.goes("a");
        let (texts, _) = reads(&three, 0, 100).await;
        assert!(texts[0].contains("节点") && texts[0].contains("which is away"), "{texts:?}");
        assert_eq!(texts[1..], ["3"]);

        // The last part: it is said once to whoever follows, and then what came meanwhile is read.
        team.net.comes("a");
        team.net.goes("b");
        let (texts, end) = reads(&three, 0, 1).await;
        assert_eq!((texts.len(), texts[..2].join("").as_str()), (3, "12"));
        assert_eq!(reads(&three, end, 100).await, (Vec::new(), end));
        says(&two, &["4"]).await;
        team.net.comes("b");
        assert_eq!(reads(&three, end, 100).await.0, ["3", "4"]);
        assert_eq!(reads(&three, 0, 100).await.0, ["1", "2", "3", "4"]);
    }

    #[tokio::test]
    async fn a_node_that_takes_up_an_attempt_leaves_the_first_part_to_who_began_it() {
        let team = Team::new().await;
        let (one, two) = (team.node("a"), team.node("b"));
        // It has gone before the first node has noted anything.
        says(&one, &["1"]).await;
        two.take_up(&[(task(), 1), (task(), 2)]).await.expect("they are taken up");
        says(&two, &["2"]).await;
        one.note().await.expect("it is noted");
        assert_eq!(reads(&two, 0, 100).await.0, ["1", "2"]);
        // The life that wrote it ended before it could be noted.
        let three = team.node("c");
        three.append(task(), 3, &[]).await;
        three
            .own
            .append(task(), 3, &[LogLine { at: Timestamp::EPOCH, stream: LogStream::Log, text: "x".into() }])
            .await;
        three.take_up(&[(task(), 3)]).await.expect("it is taken up");
        let parts = team.store.log_parts(&[task()]).await.expect("parts");
        let of_third: Vec<_> = parts.iter().filter(|part| part.attempt == 3).map(|part| part.part).collect();
        assert_eq!(of_third, [0]);
    }

    #[tokio::test]
    async fn parts_that_begin_together_are_noted_by_one_statement() {
        let team = Team::new().await;
        let one = team.node("a");
        for n in 0..200_u8 {
            let task = TaskId::new(BEGAN, [n; 10]);
            let line = LogLine { at: Timestamp::EPOCH, stream: LogStream::Stdout, text: "x".to_owned() };
            one.append(task, 1, std::slice::from_ref(&line)).await;
            one.append(task, 1, &[line]).await;
        }
        assert_eq!(one.begun().owed.len(), 200);
        one.note().await.expect("they are noted");
        assert_eq!(one.begun().owed.len(), 0);
        let tasks: Vec<TaskId> = (0..200_u8).map(|n| TaskId::new(BEGAN, [n; 10])).collect();
        assert_eq!(team.store.log_parts(&tasks).await.expect("parts").len(), 200);
    }

    #[test]
    fn a_keeper_is_known_by_its_folder_whatever_it_is_called() {
        let kept = keeper("a#b", "0123");
        assert_eq!((called(&kept), known_by(&kept)), ("a#b", "0123"));
        assert!(keeper(&"钟".repeat(200), "0123456789abcdef").len() <= 255);
    }
}
