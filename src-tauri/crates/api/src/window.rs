//! What belongs to the window as a whole: what it opens with, its status bar, its settings, hold everything.

use campanile_engine::{ALMANAC_SETTING, CALENDAR_SETTING, HOLD, read_hold};
use campanile_model::alarm::Alarm;
use campanile_model::connection::CONNECTION_SETTING;
use campanile_model::request::{Ask, Hold};
use campanile_model::retention::{RETENTION, Retention};
use campanile_model::secret::SECRET_SETTING;
use campanile_model::task::TaskState;
use campanile_model::token::TOKEN_SETTING;
use campanile_model::{Code, Fault};
use campanile_store::{JobFilter, TaskFilter};
use serde::Deserialize as _;
use serde_json::{Map, Value};

use crate::views::*;
use crate::{Api, CallContext};

/// Tasks in hand are counted up to here where no engine of this program counts them.
const MOST_COUNTED: usize = 500;

impl Api {
    pub(crate) async fn bootstrap(&self, _: Nothing, cx: &CallContext) -> Result<Bootstrap, Fault> {
        let mut zones = self.almanac().zones().names();
        zones.sort();
        let own = |key: &str| {
            key == HOLD
                || key == ALMANAC_SETTING
                || key.starts_with(CALENDAR_SETTING)
                || key.starts_with(CONNECTION_SETTING)
                || key.starts_with(TOKEN_SETTING)
                || key.starts_with(SECRET_SETTING)
        };
        let settings: Map<String, Value> =
            self.store().settings().await?.into_iter().filter(|(key, _)| !own(key)).collect();
        // One that makes no sense is not kept to, either.
        let retention = settings.get(RETENTION).and_then(|kept| Retention::deserialize(kept).ok()).unwrap_or_default();
        Ok(Bootstrap {
            now: self.now(),
            version: self.about.version.clone(),
            zone_data: self.almanac().zones().version().to_owned(),
            connection: "local".to_owned(),
            data_folder: self.about.data_folder.clone(),
            person: cx.who.clone(),
            zone: self.about.zone.clone(),
            zones,
            processors: self.node.processors(),
            settings,
            retention,
            first_run: self.archive.job_count(&JobFilter::default(), 1).await? == 0,
        })
    }

    pub(crate) async fn status(&self, _: Nothing, _: &CallContext) -> Result<Status, Fault> {
        self.status_now(0.0).await
    }

    /// `tasks_per_second` is known to whoever has watched for a while.
    pub(crate) async fn status_now(&self, tasks_per_second: f64) -> Result<Status, Fault> {
        let now = self.now();
        let alarms: Vec<Alarm> = self.store().open_alarms().await?;
        let lanes = self.store().lane_depths(now).await?;
        let running = match self.node.in_hand() {
            Some(count) => count,
            None => {
                let states = vec![TaskState::Pushed, TaskState::Running, TaskState::Overrun];
                let held = TaskFilter { states, executor: None };
                let page = self.archive.task_page(&held, None, MOST_COUNTED).await?;
                u32::try_from(page.rows.len()).unwrap_or(u32::MAX)
            }
        };
        Ok(Status {
            now,
            node: self.node.state(),
            tasks_per_second,
            lanes: lanes
                .into_iter()
                .map(|lane| LaneView {
                    lane: lane.lane,
                    depth: lane.depth,
                    oldest_wait_ms: lane.oldest_ready_at.map(|since| now.since(since).as_millis() as f64),
                })
                .collect(),
            running,
            last_event_at: self.events.last_at(),
            hold: self.hold_now().await?,
            open_alarms: u32::try_from(alarms.len()).unwrap_or(u32::MAX),
            worst: alarms.iter().map(|alarm| alarm.severity).max(),
            trouble: self.node.trouble(),
            sharded: self.sharded_now().await?,
        })
    }

    pub(crate) async fn hold_now(&self) -> Result<Option<Hold>, Fault> {
        Ok(read_hold(self.store()).await?)
    }

    pub(crate) async fn set_setting(&self, set: SetInput, cx: &CallContext) -> Result<DoneView, Fault> {
        if set.key.starts_with(CONNECTION_SETTING) || set.key.starts_with(SECRET_SETTING) {
            // Nothing would keep a password out of it.
            let reason = "connections are set by put_connection, secrets by put_secret";
            return Err(Code::BadRequest.fault().with("reason", reason).at("key"));
        }
        if set.key.starts_with(TOKEN_SETTING) {
            // What a token opens has to be drawn by chance, not chosen.
            let reason = "tokens are made by make_token";
            return Err(Code::BadRequest.fault().with("reason", reason).at("key"));
        }
        self.ask(cx, Ask::Set { key: set.key, value: set.value }).await.map(DoneView::from)
    }

    pub(crate) async fn hold(&self, hold: HoldInput, cx: &CallContext) -> Result<DoneView, Fault> {
        if hold.reason.trim().is_empty() {
            return Err(Code::HoldNeedsReason.fault().at("reason"));
        }
        self.ask(cx, Ask::Hold { reason: hold.reason.trim().to_owned() }).await.map(DoneView::from)
    }

    pub(crate) async fn release(&self, _: Nothing, cx: &CallContext) -> Result<DoneView, Fault> {
        self.ask(cx, Ask::Release).await.map(DoneView::from)
    }
}
