//! Whether a job, as a person wrote it, is one that can be saved.
//!
//! Asked while the form is filled in, and again by the clerk before anything is written. Collects
//! everything that is wrong, each fault beside the field it is about.
//!
//! Does not look at other jobs (whether a name is taken is the store's answer) or at executors
//! (whether a processor is there may change after the job was saved).

use serde_json::Value;
use uuid::Uuid;

use crate::blackout::JobBlackout;
use crate::calendar::WorkingDays;
use crate::job::{API_VERSION, JobSpec, Mode, Overlap, Route, StillNeeded};
use crate::schedule::{CompiledTiming, OnNonWorkday, ScheduleError, Timing};
use crate::sharding::DATA;
use crate::timeline::LONGEST_SPREAD_SECONDS;
use crate::{Almanac, Code, Fault, Lane, Timestamp, Words, template};

pub const LONGEST_NAME: usize = 128;
pub const LONGEST_DESCRIPTION: usize = 4000;
pub const MOST_TAGS: usize = 32;
pub const LONGEST_TAG: usize = 64;
/// Of the parameters as JSON.
pub const LARGEST_PARAMETERS: usize = 64 * 1024;
pub const MOST_EXCEPTIONS: usize = 1000;
pub const MOST_OWN_BLACKOUTS: usize = 32;
pub const MOST_LABELS: usize = 16;
pub const MOST_FAILURE_RULES: usize = 32;
pub const LONGEST_RULE: usize = 500;
/// Items.
pub const LARGEST_SHARD: u32 = 1_000_000;

const A_DAY: u32 = 86_400;
const THIRTY_DAYS: u32 = 30 * A_DAY;

/// Everything that keeps the job from being saved at `saved_at`. Empty: nothing does.
pub fn check(spec: &JobSpec, almanac: &Almanac, saved_at: Timestamp) -> Vec<Fault> {
    let mut found = Found::default();

    if spec.api_version != API_VERSION {
        found.invalid(
            "apiVersion",
            format!("is {:?}; this program reads {API_VERSION}", spec.api_version),
            format!("为 {:?}；本程序可读取 {API_VERSION}", spec.api_version),
        );
    }
    found.name("name", &spec.name);
    if Uuid::parse_str(&spec.name).is_ok() {
        found.invalid(
            "name",
            "looks like an id, and jobs can be asked for by either",
            "形似 ID，而任务可按 ID 或名称查找",
        );
    }
    if spec.description.chars().count() > LONGEST_DESCRIPTION {
        found.too_long("description", LONGEST_DESCRIPTION);
    }

    found.schedule(spec, almanac, saved_at);

    found.blackouts(spec, almanac);
    found.range("misfire.graceSeconds", spec.misfire.grace_seconds, 0, 7 * A_DAY);
    found.range("misfire.max", spec.misfire.max, 1, 100);
    if spec.supersede.is_some() && spec.overlap != Overlap::Queue {
        found.invalid("supersede", "means something with overlap queue alone", "仅在重叠策略为 queue 时有意义");
    }
    found.range("spreadSeconds", spec.spread_seconds, 0, LONGEST_SPREAD_SECONDS);
    if let Some(timeout) = spec.timeout_seconds {
        found.range("timeoutSeconds", timeout, 1, THIRTY_DAYS);
    }
    found.range("readyTimeoutSeconds", spec.ready_timeout_seconds, 1, A_DAY);
    found.range("pushTimeoutSeconds", spec.push_timeout_seconds, 1, A_DAY);

    found.range("retry.retries", spec.retry.retries, 0, 100);
    found.fraction("retry.baseSeconds", spec.retry.base_seconds, 0.0, f64::from(A_DAY));
    found.fraction("retry.maxSeconds", spec.retry.max_seconds, 0.0, f64::from(A_DAY));
    found.fraction("retry.multiplier", spec.retry.multiplier, 1.0, 100.0);
    if spec.retry.max_seconds < spec.retry.base_seconds {
        found.invalid("retry.maxSeconds", "is less than baseSeconds", "小于 baseSeconds");
    }

    if spec.priority == Lane::Retry {
        found.invalid(
            "priority",
            "the retry lane is for further attempts; choose another",
            "retry 通道仅用于重试，请选择其他优先级",
        );
    }
    found.route(spec);
    found.failure_rules(spec);
    if let Some(most) = spec.max_concurrent {
        found.range("maxConcurrent", most, 1, 10_000);
    }
    if let Some(seconds) = spec.expires_after_seconds {
        found.range("expiresAfterSeconds", seconds, 1, THIRTY_DAYS);
    }
    match &spec.still_needed {
        None | Some(StillNeeded::Processor) => {}
        Some(StillNeeded::Sql { connection, query }) => {
            found.name("stillNeeded.connection", connection);
            found.written("stillNeeded.query", query);
        }
        Some(StillNeeded::Http { url }) => {
            found.written("stillNeeded.url", url);
            if !url.starts_with("http://") && !url.starts_with("https://") {
                found.invalid(
                    "stillNeeded.url",
                    "does not begin with http:// or https://",
                    "须以 http:// 或 https:// 开头",
                );
            }
        }
    }

    found.name("executorGroup", &spec.executor_group);
    found.name("processor", &spec.processor);
    let parameters = serde_json::to_string(&spec.parameters).map_or(usize::MAX, |text| text.len());
    if parameters > LARGEST_PARAMETERS {
        found.invalid(
            "parameters",
            format!("are larger than {} KB as JSON", LARGEST_PARAMETERS / 1024),
            format!("以 JSON 计超过 {} KB", LARGEST_PARAMETERS / 1024),
        );
    }

    for wrong in template::check(&spec.parameters) {
        if spec.mode == Mode::Sharding && wrong.is_within(DATA) {
            // It goes to the shards as it is.
            continue;
        }
        let template::Wrong { path, position, words } = wrong;
        let en = format!("at character {position}: {}", words.en);
        found.invalid(&format!("parameters.{path}"), en, format!("第 {position} 个字符处：{}", words.zh));
    }

    if let Some(tenant) = &spec.tenant {
        found.name("tenant", tenant);
    }
    if let Some(owner) = &spec.owner {
        found.name("owner", owner);
    }
    if spec.tags.len() > MOST_TAGS {
        found.invalid("tags", format!("there are more than {MOST_TAGS}"), format!("超过 {MOST_TAGS} 个"));
    }
    for (index, tag) in spec.tags.iter().enumerate() {
        found.text(&format!("tags.{index}"), tag, LONGEST_TAG);
    }
    found.faults
}

/// A schedule's refusal under its code, beside the field of the job that it is about.
pub fn schedule_fault(error: &ScheduleError) -> Fault {
    let mut fault = match error {
        ScheduleError::Field { .. } | ScheduleError::WhichDialect { .. } => {
            Code::ScheduleInvalid.fault().with_words("reason", &error.words())
        }
        ScheduleError::NeverFires { reason, .. } => Code::ScheduleNeverFires.fault().with_words("reason", reason),
        ScheduleError::UnknownZone { name, nearest } => {
            let mut fault = Code::UnknownZone.fault().with("zone", name);
            if let Some(nearest) = nearest {
                fault.hint = Some(Words::new(format!("Did you mean {nearest}?"), format!("是否指 {nearest}？")));
            }
            fault
        }
        ScheduleError::UnknownCalendar { name, known } => {
            let mut fault = Code::CalendarNotFound.fault().with("calendar", name);
            let known = known.join(", ");
            fault.hint = Some(Words::new(format!("There are {known}."), format!("现有 {known}。")));
            fault
        }
        ScheduleError::NotYet { words, .. } => {
            let mut fault = Code::NotYet.fault();
            fault.message = words.clone();
            fault
        }
    };
    let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    fault.span = error.span().map(|(from, until)| (place(from), place(until)));
    match error.at() {
        "schedule" => fault.at("schedule"),
        field if field.starts_with("effective") || ["calendar", "onNonWorkday"].contains(&field) => fault.at(field),
        field => fault.at(format!("schedule.{field}")),
    }
}

/// Whether its calendar leaves nothing of what a schedule plans, for as far as can be known.
fn none_is_worked(times: &CompiledTiming, saved_at: Timestamp) -> bool {
    let before = saved_at.plus_millis(-1);
    let waits_for_data = times.calendar().is_some_and(WorkingDays::holds);
    times.on_non_workday() != OnNonWorkday::Run
        && !waits_for_data
        && times.plan().next_after(before).is_some()
        && times.next_due(before).is_none()
        && times.moved_behind(saved_at).is_empty()
}

#[derive(Default)]
struct Found {
    faults: Vec<Fault>,
}

impl Found {
    fn invalid(&mut self, field: &str, en: impl Into<String>, zh: impl Into<String>) {
        let fault = Code::JobInvalid.fault().with("field", field).with_words("reason", &Words::new(en, zh));
        self.faults.push(fault.at(field));
    }

    fn too_long(&mut self, field: &str, most: usize) {
        self.invalid(field, format!("is longer than {most} characters"), format!("超过 {most} 个字符"));
    }

    fn name(&mut self, field: &str, text: &str) {
        self.text(field, text, LONGEST_NAME);
    }

    fn text(&mut self, field: &str, text: &str, most: usize) {
        if text.trim().is_empty() {
            self.invalid(field, "is empty", "不能为空");
        } else if text.chars().count() > most {
            self.too_long(field, most);
        } else if text.chars().any(char::is_control) {
            self.invalid(field, "has a line break or another control character in it", "含有换行或其他控制字符");
        } else if text.trim() != text {
            self.invalid(field, "begins or ends with a space", "首尾不能有空格");
        }
    }

    fn route(&mut self, spec: &JobSpec) {
        match spec.mode {
            Mode::Unicast | Mode::Broadcast | Mode::Sharding => {}
        }
        match (spec.min_success, spec.mode) {
            (None, _) => {}
            (Some(least), Mode::Broadcast) => self.range("minSuccess", least, 1, 10_000),
            (Some(_), _) => self.invalid("minSuccess", "is for mode broadcast", "仅用于广播模式（broadcast）"),
        }
        self.shards(spec);
        match (&spec.hash_key, spec.route) {
            (None, Route::ConsistentHash) => self.invalid(
                "hashKey",
                "is missing; route consistentHash goes by one of the parameters",
                "缺失；consistentHash 路由需要指定一个参数",
            ),
            (Some(key), Route::ConsistentHash) => self.name("hashKey", key),
            (Some(_), _) => self.invalid("hashKey", "is for route consistentHash", "仅用于 consistentHash 路由"),
            (None, _) => {}
        }
        if spec.route == Route::Label && spec.labels.is_empty() {
            self.invalid("labels", "are missing; route label goes by them", "缺失；label 路由需要指定标签");
        }
        if spec.labels.len() > MOST_LABELS {
            self.invalid("labels", format!("there are more than {MOST_LABELS}"), format!("超过 {MOST_LABELS} 个"));
        }
        for (name, value) in &spec.labels {
            self.text("labels", name, LONGEST_TAG);
            self.text(&format!("labels.{name}"), value, LONGEST_TAG);
        }
    }

    fn shards(&mut self, spec: &JobSpec) {
        let settings = spec.shard_settings();
        let sizes = [("shardMaxSize", spec.shard_max_size), ("shardMinSize", spec.shard_min_size)];
        let step = ("notifyStep", spec.notify_step);
        if spec.mode != Mode::Sharding {
            let policy = ("onLevelFailure", spec.on_level_failure.map(|_| 0));
            let set = sizes.into_iter().chain([policy, step]).filter(|(_, value)| value.is_some());
            for (field, _) in set {
                self.invalid(field, "is for mode sharding", "仅用于分片模式（sharding）");
            }
            return;
        }
        for (field, value) in sizes {
            self.range(field, value.unwrap_or(1), 1, LARGEST_SHARD);
        }
        if settings.min_size > settings.max_size {
            let max = settings.max_size;
            self.invalid(
                "shardMinSize",
                format!("is more than shardMaxSize, which is {max}"),
                format!("大于 shardMaxSize（{max}）"),
            );
        }
        self.range(step.0, settings.notify_step, 1, 100);
        if let Some(data) = spec.parameters.get("data")
            && !data.as_array().is_some_and(|levels| levels.iter().all(Value::is_array))
        {
            self.invalid(
                "parameters.data",
                "is not a list of levels, each a list of items: [[1, 2], [3]]",
                "不是层级的列表；每个层级应是项的列表：[[1, 2], [3]]",
            );
        }
        if matches!(spec.route, Route::ConsistentHash | Route::Sticky) {
            self.invalid(
                "route",
                "has no meaning with mode sharding, which deals its shards itself",
                "对分片模式没有意义，分片由系统分配",
            );
        }
    }

    fn failure_rules(&mut self, spec: &JobSpec) {
        if spec.failure_rules.len() > MOST_FAILURE_RULES {
            self.invalid(
                "failureRules",
                format!("there are more than {MOST_FAILURE_RULES}"),
                format!("超过 {MOST_FAILURE_RULES} 条"),
            );
        }
        for (index, rule) in spec.failure_rules.iter().enumerate() {
            let field = format!("failureRules.{index}.match");
            if rule.pattern.trim().is_empty() {
                self.invalid(&field, "is empty", "不能为空");
            } else if rule.pattern.chars().count() > LONGEST_RULE {
                self.too_long(&field, LONGEST_RULE);
            } else if let Some(Err(error)) = rule.expression() {
                let reason = error.to_string();
                let reason = reason.lines().last().unwrap_or_default().trim();
                self.invalid(
                    &field,
                    format!("is not a regular expression that can be used: {reason}"),
                    format!("不是可用的正则表达式：{reason}"),
                );
            }
        }
    }

    fn written(&mut self, field: &str, text: &str) {
        if text.trim().is_empty() {
            self.invalid(field, "is empty", "不能为空");
        } else if text.chars().count() > LONGEST_DESCRIPTION {
            self.too_long(field, LONGEST_DESCRIPTION);
        }
    }

    fn range(&mut self, field: &str, value: u32, least: u32, most: u32) {
        if !(least..=most).contains(&value) {
            self.invalid(
                field,
                format!("is {value}; it can be {least} to {most}"),
                format!("为 {value}；可用范围是 {least} 到 {most}"),
            );
        }
    }

    fn fraction(&mut self, field: &str, value: f64, least: f64, most: f64) {
        if !(least..=most).contains(&value) {
            self.invalid(
                field,
                format!("is {value}; it can be {least} to {most}"),
                format!("为 {value}；可用范围是 {least} 到 {most}"),
            );
        }
    }

    fn blackouts(&mut self, spec: &JobSpec, almanac: &Almanac) {
        if spec.blackouts.len() > MOST_OWN_BLACKOUTS {
            let most = MOST_OWN_BLACKOUTS;
            self.invalid("blackouts", format!("there are more than {most}"), format!("超过 {most} 个"));
        }
        for (index, own) in spec.blackouts.iter().enumerate() {
            match own {
                JobBlackout::Named(name) => self.name(&format!("blackouts.{index}"), name),
                JobBlackout::Own(window) => {
                    if let Err(error) = window.compile(almanac) {
                        let words = error.words();
                        self.invalid(&format!("blackouts.{index}.{}", error.at()), words.en, words.zh);
                    }
                }
            }
        }
    }

    fn schedule(&mut self, spec: &JobSpec, almanac: &Almanac, saved_at: Timestamp) {
        let mut timing = Timing::plain(spec.schedule.clone(), saved_at);
        timing.effective_from = spec.effective_from;
        timing.effective_until = spec.effective_until;
        timing.calendar = spec.calendar.clone();
        timing.on_non_workday = spec.on_non_workday;
        match timing.compile(almanac) {
            Err(error) => self.faults.push(schedule_fault(&error)),
            Ok(times) if none_is_worked(&times, saved_at) => {
                let reason = Words::new(
                    "every time that it plans is on a day on which nobody works",
                    "其计划的时间全部落在非工作日",
                );
                self.faults.push(schedule_fault(&ScheduleError::NeverFires { field: "onNonWorkday".into(), reason }));
            }
            Ok(_) => {}
        }
        if spec.exceptions.len() > MOST_EXCEPTIONS {
            self.invalid(
                "exceptions",
                format!("there are more than {MOST_EXCEPTIONS}"),
                format!("超过 {MOST_EXCEPTIONS} 个"),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_795_000_000_000);

    /// Puts `change` over a job that is fine, and says field and code of what is wrong with it.
    fn check_with(change: &Value) -> Vec<(String, String)> {
        let mut document = json!({
            "name": "nightly-report",
            "schedule": {"kind": "cron", "expression": "0 2 * * *", "timeZone": "Asia/Shanghai"},
            "processor": "shell",
            "parameters": {"command": "report"},
        });
        for (key, value) in change.as_object().expect("an object") {
            document[key.as_str()] = value.clone();
        }
        let spec: JobSpec = serde_json::from_value(document).expect("a job");
        check(&spec, &Almanac::bundled(), NOW)
            .into_iter()
            .map(|fault| {
                assert!(!fault.message.zh.is_ascii(), "{fault}");
                assert!(!fault.message.en.contains('{') && !fault.message.zh.contains('{'), "{fault}");
                (fault.field.expect("each fault is about a field"), fault.code)
            })
            .collect()
    }

    #[test]
    fn a_job_as_the_manual_writes_it_can_be_saved() {
        assert_eq!(check_with(&json!({})), []);
        assert_eq!(check_with(&json!({"name": "数据同步 (每日)", "tags": ["财务"], "tenant": "acme"})), []);
    }

    #[test]
    fn a_job_may_say_who_takes_it_how_much_at_once_and_when_it_is_not_worth_doing_any_more() {
        let table = [
            json!({"mode": "broadcast", "minSuccess": 2, "labels": {"disk": "ssd"}}),
            json!({"route": "consistentHash", "hashKey": "customer", "labels": {"zone": "cn-1"}}),
            json!({"route": "sticky", "maxConcurrent": 2, "io": true, "expiresAfterSeconds": 60}),
            json!({"route": "label", "labels": {"gpu": "yes"}, "stillNeeded": {"ask": "processor"}}),
            json!({"stillNeeded": {"ask": "sql", "connection": "main", "query": "select 1"}}),
            json!({"failureRules": [{"match": "/exit code 7[58]/", "class": "business"}]}),
            json!({"parameters": {"command": "report --day {{planned.date}} --token ${secret:token}"}}),
        ];
        for change in table {
            assert_eq!(check_with(&change), [], "{change}");
        }
    }

    #[test]
    fn each_field_that_is_wrong_is_named_with_its_code() {
        let invalid = Code::JobInvalid;
        let table: &[(Value, &str, Code)] = &[
            (json!({"name": ""}), "name", invalid),
            (json!({"name": "a\nb"}), "name", invalid),
            (json!({"name": " a"}), "name", invalid),
            (json!({"name": "n".repeat(129)}), "name", invalid),
            (json!({"name": "0196a5b2-0000-7000-8000-000000000000"}), "name", invalid),
            (json!({"apiVersion": "campanile/v9"}), "apiVersion", invalid),
            (json!({"description": "d".repeat(4001)}), "description", invalid),
            (json!({"misfire": {"max": 101}}), "misfire.max", invalid),
            (json!({"misfire": {"graceSeconds": 700_000}}), "misfire.graceSeconds", invalid),
            (json!({"spreadSeconds": 90_000}), "spreadSeconds", invalid),
            (json!({"timeoutSeconds": 0}), "timeoutSeconds", invalid),
            (json!({"readyTimeoutSeconds": 0}), "readyTimeoutSeconds", invalid),
            (json!({"pushTimeoutSeconds": 0}), "pushTimeoutSeconds", invalid),
            (json!({"retry": {"retries": 101}}), "retry.retries", invalid),
            (json!({"retry": {"baseSeconds": -1.0}}), "retry.baseSeconds", invalid),
            (json!({"retry": {"baseSeconds": 9.0, "maxSeconds": 3.0}}), "retry.maxSeconds", invalid),
            (json!({"retry": {"multiplier": 0.5}}), "retry.multiplier", invalid),
            (json!({"priority": "retry"}), "priority", invalid),
            (json!({"minSuccess": 2}), "minSuccess", invalid),
            (json!({"mode": "broadcast", "minSuccess": 0}), "minSuccess", invalid),
            (json!({"shardMaxSize": 10}), "shardMaxSize", invalid),
            (json!({"shardMinSize": 10}), "shardMinSize", invalid),
            (json!({"onLevelFailure": "stop"}), "onLevelFailure", invalid),
            (json!({"mode": "broadcast", "notifyStep": 10}), "notifyStep", invalid),
            (json!({"route": "consistentHash"}), "hashKey", invalid),
            (json!({"hashKey": "id"}), "hashKey", invalid),
            (json!({"route": "label"}), "labels", invalid),
            (json!({"labels": {"disk": ""}}), "labels.disk", invalid),
            (json!({"maxConcurrent": 0}), "maxConcurrent", invalid),
            (json!({"expiresAfterSeconds": 0}), "expiresAfterSeconds", invalid),
            (json!({"failureRules": [{"match": "/a(/", "class": "business"}]}), "failureRules.0.match", invalid),
            (json!({"failureRules": [{"match": " ", "class": "system"}]}), "failureRules.0.match", invalid),
            (json!({"stillNeeded": {"ask": "http", "url": "ftp://a"}}), "stillNeeded.url", invalid),
            (json!({"stillNeeded": {"ask": "sql", "connection": "main", "query": ""}}), "stillNeeded.query", invalid),
            (json!({"parameters": {"command": "run {{plannedd}}"}}), "parameters.command", invalid),
            (json!({"executorGroup": ""}), "executorGroup", invalid),
            (json!({"processor": " "}), "processor", invalid),
            (json!({"parameters": {"command": "x".repeat(70_000)}}), "parameters", invalid),
            (json!({"tags": ["fine", ""]}), "tags.1", invalid),
            (json!({"tenant": "\u{7}"}), "tenant", invalid),
            (
                json!({"schedule": {"kind": "cron", "expression": "0 25 * * *"}}),
                "schedule.expression",
                Code::ScheduleInvalid,
            ),
            (
                json!({"schedule": {"kind": "cron", "expression": "0 0 30 2 *"}}),
                "schedule.expression",
                Code::ScheduleNeverFires,
            ),
            (
                json!({"schedule": {"kind": "cron", "expression": "0 2 * * *", "timeZone": "Asia/Beijing"}}),
                "schedule.timeZone",
                Code::UnknownZone,
            ),
            (
                json!({"schedule": {"kind": "cron", "expression": "0 0 2 * * *"}}),
                "schedule.dialect",
                Code::ScheduleInvalid,
            ),
            (json!({"schedule": {"kind": "once", "at": 1000}}), "schedule.at", Code::ScheduleNeverFires),
            (json!({"schedule": {"kind": "after", "jobs": []}}), "schedule.jobs", Code::ScheduleInvalid),
            (json!({"schedule": {"kind": "after", "jobs": ["a", "a"]}}), "schedule.jobs", Code::ScheduleInvalid),
            (json!({"supersede": "latest", "overlap": "skip"}), "supersede", invalid),
            (json!({"blackouts": ["night", {"from": 2000, "until": 1000}]}), "blackouts.1.until", invalid),
            (
                json!({"schedule": {"kind": "fixedRate", "everySeconds": 0}}),
                "schedule.everySeconds",
                Code::ScheduleInvalid,
            ),
            (json!({"calendar": "nobody"}), "calendar", Code::CalendarNotFound),
            (
                json!({"schedule": {"kind": "cron", "expression": "0 2 * * 6", "timeZone": "UTC"}, "onNonWorkday": "skip"}),
                "onNonWorkday",
                Code::ScheduleNeverFires,
            ),
            (
                json!({"schedule": {"kind": "fixedDelay", "everySeconds": 60}, "onNonWorkday": "skip"}),
                "onNonWorkday",
                Code::ScheduleInvalid,
            ),
            (json!({"effectiveFrom": 2000, "effectiveUntil": 1000}), "effectiveUntil", Code::ScheduleNeverFires),
        ];
        for (change, field, code) in table {
            assert_eq!(check_with(change), [((*field).to_owned(), code.as_str().to_owned())], "{change}");
        }
    }

    #[test]
    fn each_setting_of_shards_that_is_wrong_is_named() {
        let table: &[(Value, &str)] = &[
            (json!({"shardMaxSize": 0, "shardMinSize": 0}), "shardMaxSize shardMinSize"),
            (json!({"shardMaxSize": 1_000_001}), "shardMaxSize"),
            (json!({"shardMinSize": 1001}), "shardMinSize"),
            (json!({"shardMaxSize": 10, "shardMinSize": 11}), "shardMinSize"),
            (json!({"notifyStep": 0}), "notifyStep"),
            (json!({"notifyStep": 101}), "notifyStep"),
            (json!({"route": "sticky"}), "route"),
            (json!({"minSuccess": 1}), "minSuccess"),
            (json!({"parameters": {"data": [1, [2]]}}), "parameters.data"),
            (json!({"parameters": {"data": "1,2"}}), "parameters.data"),
            (json!({"parameters": {"data": [[1, {"a": 2}], []]}}), ""),
            // What goes to the shards is no template; what stands beside it is.
            (json!({"parameters": {"data": [["{{x}}", {"a": "{{"}]]}}), ""),
            (json!({"parameters": {"data": [[1]], "database": "{{x}}"}}), "parameters.database"),
            (json!({"shardMaxSize": 10, "shardMinSize": 10, "onLevelFailure": "continue", "notifyStep": 100}), ""),
        ];
        for (change, expected) in table {
            let mut change = change.clone();
            change["mode"] = json!("sharding");
            let mut fields: Vec<String> = check_with(&change).into_iter().map(|(field, _)| field).collect();
            fields.sort_by_key(|field| (field != "shardMaxSize", field.clone()));
            assert_eq!(fields.join(" "), *expected, "{change}");
        }
    }

    #[test]
    fn everything_that_is_wrong_is_said_at_once() {
        let found = check_with(&json!({"name": "", "retry": {"retries": 500}, "mode": "broadcast", "minSuccess": 0}));
        let fields: Vec<&str> = found.iter().map(|(field, _)| field.as_str()).collect();
        assert_eq!(fields, ["name", "retry.retries", "minSuccess"]);
    }

    #[test]
    fn an_unknown_zone_comes_with_a_guess() {
        let error = Almanac::bundled().zone("Asia/Beijing").expect_err("there is no such zone");
        let hint = schedule_fault(&error).hint.expect("a guess");
        assert_eq!(hint, Words::new("Did you mean Asia/Shanghai?", "是否指 Asia/Shanghai？"));
    }
}
