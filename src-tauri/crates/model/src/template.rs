//! Parameters that are filled in when a run goes out: `{{planned.date}}` in any string of them.
//!
//! Strict: a name that is not known is an error when the job is saved, with its place. `{{{{` writes
//! `{{`; a `}}` that nothing opened stands for itself. A string that is nothing but one reference
//! takes the value's own type; within other text it is written out. `${secret:name}` is not of this
//! language and stays as it is: it is opened at the executor.

use serde_json::{Map, Value, json};

use crate::schedule::Zone;
use crate::{Timestamp, Words};

/// What a reference may name, and what it stands for, for people.
pub const NAMES: [(&str, &str, &str); 17] = [
    ("planned", "the planned time, RFC 3339 in the schedule's time zone", "计划时间，按调度时区的 RFC 3339 格式"),
    ("planned.date", "its date, 2026-11-21", "计划日期，如 2026-11-21"),
    ("planned.time", "its time of day, 02:30:00", "计划时刻，如 02:30:00"),
    ("planned.millis", "the same as epoch milliseconds", "计划时间的毫秒时间戳"),
    ("due", "the due time, after rolls, moves and spread", "到期时间（顺延、移动与打散之后）"),
    ("due.date", "its date", "到期日期"),
    ("due.time", "its time of day", "到期时刻"),
    ("due.millis", "the same as epoch milliseconds", "到期时间的毫秒时间戳"),
    ("attempt", "1, and one more for each further attempt", "第几次尝试，从 1 开始"),
    ("job", "the job's name", "任务名称"),
    ("instance", "the run's id", "任务实例 ID"),
    ("version", "the version of the job", "任务版本"),
    ("tenant", "the job's tenant, or nothing", "租户，可为空"),
    ("executor", "the executor that runs it", "运行它的执行器"),
    ("shard.index", "which shard it is, from 0", "分片序号，从 0 开始"),
    ("shard.count", "how many shards there are", "分片总数"),
    (
        "upstream.result",
        "what the run before it gave; a path may follow: upstream.result.rows",
        "上游任务的结果，可接路径，如 upstream.result.rows",
    ),
];

/// What a run knows of itself.
#[derive(Clone, Debug)]
pub struct Facts<'a> {
    pub planned: Timestamp,
    pub due: Timestamp,
    /// Times are told in it; none: in UTC.
    pub zone: Option<&'a Zone>,
    pub attempt: u32,
    pub job: &'a str,
    pub instance: &'a str,
    pub version: u32,
    pub tenant: Option<&'a str>,
    pub executor: &'a str,
    /// Index and count.
    pub shard: (u32, u32),
    pub upstream: Option<&'a Value>,
}

/// What is wrong with a template, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// The parameter it is in: `command`, `headers.Day`, `items.0`.
    pub path: String,
    /// The character at which it begins, from 1.
    pub position: usize,
    pub words: Words,
}

impl Wrong {
    /// It stands under that parameter.
    pub fn is_within(&self, parameter: &str) -> bool {
        let rest = self.path.strip_prefix(parameter);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    }
}

/// Everything that is wrong with the templates in the parameters.
pub fn check(parameters: &Map<String, Value>) -> Vec<Wrong> {
    let mut wrong = Vec::new();
    for (name, value) in parameters {
        check_value(value, name, &mut wrong);
    }
    wrong
}

/// The parameters with every reference filled in. What `check` would refuse stays as it is written.
pub fn fill(parameters: &Map<String, Value>, facts: &Facts<'_>) -> Map<String, Value> {
    parameters.iter().map(|(name, value)| (name.clone(), filled(value, facts))).collect()
}

/// Text that `fill` gives back as `text`.
pub fn escaped(text: &str) -> String {
    text.replace("{{", "{{{{")
}

enum Piece<'a> {
    Text(&'a str),
    /// A doubled opening.
    Braces,
    Name(&'a str),
}

/// The text piece by piece, or the byte at which it stops making sense, with the reason.
fn pieces(text: &str) -> Result<Vec<Piece<'_>>, (usize, Words)> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(open) = rest.find("{{") {
        if open > 0 {
            pieces.push(Piece::Text(&rest[..open]));
        }
        let at = text.len() - rest.len() + open;
        let inner = &rest[open + 2..];
        if let Some(after) = inner.strip_prefix("{{") {
            pieces.push(Piece::Braces);
            rest = after;
            continue;
        }
        let Some(close) = inner.find("}}") else {
            let words = Words::new(
                "the two opening braces are never closed; where they are meant themselves, write four",
                "两个左花括号没有闭合；若要表示它们本身，请写四个",
            );
            return Err((at, words));
        };
        let name = inner[..close].trim();
        if !is_known(name) {
            let words = Words::new(
                format!("nothing is called {name:?}; where two opening braces are meant themselves, write four"),
                format!("没有名为 {name:?} 的变量；若要表示两个左花括号本身，请写四个"),
            );
            return Err((at, words));
        }
        pieces.push(Piece::Name(name));
        rest = &inner[close + 2..];
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(rest));
    }
    Ok(pieces)
}

fn is_known(name: &str) -> bool {
    NAMES.iter().any(|(known, _, _)| *known == name)
        || name
            .strip_prefix("upstream.result.")
            .is_some_and(|path| path.split('.').all(|step| !step.is_empty() && !step.contains(char::is_whitespace)))
}

fn check_value(value: &Value, path: &str, wrong: &mut Vec<Wrong>) {
    match value {
        Value::String(text) => {
            if let Err((at, words)) = pieces(text) {
                let position = text[..at].chars().count() + 1;
                wrong.push(Wrong { path: path.to_owned(), position, words });
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                check_value(item, &format!("{path}.{index}"), wrong);
            }
        }
        Value::Object(fields) => {
            for (name, field) in fields {
                check_value(field, &format!("{path}.{name}"), wrong);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn filled(value: &Value, facts: &Facts<'_>) -> Value {
    match value {
        Value::String(text) if text.contains("{{") => match pieces(text) {
            Ok(pieces) => put_together(&pieces, facts),
            Err(_) => value.clone(),
        },
        Value::Array(items) => Value::Array(items.iter().map(|item| filled(item, facts)).collect()),
        Value::Object(fields) => Value::Object(fill(fields, facts)),
        _ => value.clone(),
    }
}

fn put_together(pieces: &[Piece<'_>], facts: &Facts<'_>) -> Value {
    if let [Piece::Name(name)] = pieces {
        return facts.value(name);
    }
    let mut text = String::new();
    for piece in pieces {
        match piece {
            Piece::Text(part) => text.push_str(part),
            Piece::Braces => text.push_str("{{"),
            Piece::Name(name) => match facts.value(name) {
                Value::Null => {}
                Value::String(part) => text.push_str(&part),
                other => text.push_str(&other.to_string()),
            },
        }
    }
    Value::String(text)
}

impl Facts<'_> {
    fn value(&self, name: &str) -> Value {
        match name {
            "attempt" => json!(self.attempt),
            "job" => json!(self.job),
            "instance" => json!(self.instance),
            "version" => json!(self.version),
            "tenant" => json!(self.tenant.unwrap_or_default()),
            "executor" => json!(self.executor),
            "shard.index" => json!(self.shard.0),
            "shard.count" => json!(self.shard.1),
            _ => match name.split_once('.') {
                None if name == "planned" => self.told(self.planned, ""),
                None if name == "due" => self.told(self.due, ""),
                Some(("planned", part)) => self.told(self.planned, part),
                Some(("due", part)) => self.told(self.due, part),
                Some(("upstream", path)) => self.handed_on(path),
                _ => Value::Null,
            },
        }
    }

    fn told(&self, at: Timestamp, part: &str) -> Value {
        if part == "millis" {
            return json!(at.millis());
        }
        let whole = self.zone.map_or_else(|| at.to_string(), |zone| zone.rfc3339(at));
        match (part, whole.split_once('T')) {
            ("date", Some((date, _))) => json!(date),
            ("time", Some((_, time))) => json!(time.get(..8).unwrap_or(time)),
            _ => json!(whole),
        }
    }

    /// `result`, or `result.` and a path into it.
    fn handed_on(&self, path: &str) -> Value {
        let mut found = self.upstream;
        for step in path.split('.').skip(1) {
            found = match found {
                Some(Value::Object(fields)) => fields.get(step),
                Some(Value::Array(items)) => step.parse::<usize>().ok().and_then(|index| items.get(index)),
                _ => None,
            };
        }
        found.cloned().unwrap_or(Value::Null)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::Zones;

    fn check_filled(template: &Value, expected: &Value) {
        let zone = Zones::bundled().get("Asia/Shanghai").expect("a zone");
        let upstream = json!({"rows": [4, 5], "file": "a.csv"});
        let facts = Facts {
            planned: "2026-11-20T18:30:00Z".parse().expect("a time"),
            due: "2026-11-20T18:31:00Z".parse().expect("a time"),
            zone: Some(&zone),
            attempt: 2,
            job: "nightly",
            instance: "i-1",
            version: 7,
            tenant: None,
            executor: "host-1",
            shard: (0, 1),
            upstream: Some(&upstream),
        };
        let parameters = Map::from_iter([("it".to_owned(), template.clone())]);
        assert_eq!(&fill(&parameters, &facts)["it"], expected, "{template}");
    }

    #[test]
    fn a_reference_becomes_what_the_run_knows() {
        let table = [
            (json!("{{planned}}"), json!("2026-11-21T02:30:00+08:00")),
            (json!("--day {{ planned.date }} at {{due.time}}"), json!("--day 2026-11-21 at 02:31:00")),
            (json!("{{planned.millis}}"), json!(1_795_199_400_000_i64)),
            (json!("{{attempt}}"), json!(2)),
            (json!("try {{attempt}} of {{job}} v{{version}}"), json!("try 2 of nightly v7")),
            (json!("{{tenant}}-{{executor}}-{{shard.index}}/{{shard.count}}"), json!("-host-1-0/1")),
            (json!("{{upstream.result}}"), json!({"rows": [4, 5], "file": "a.csv"})),
            (json!("{{upstream.result.rows}}"), json!([4, 5])),
            (json!("n={{upstream.result.rows.1}}"), json!("n=5")),
            (json!("{{upstream.result.nothing}}"), json!(null)),
            (json!({"deep": ["{{instance}}", 3]}), json!({"deep": ["i-1", 3]})),
        ];
        for (template, expected) in table {
            check_filled(&template, &expected);
        }
    }

    #[test]
    fn what_is_not_a_reference_stays_as_it_is() {
        let table = [
            ("docker ps --format '{{{{.Names}}'", "docker ps --format '{{.Names}}'"),
            ("${secret:token} ${HOME} $((1+1)) {planned} }}", "${secret:token} ${HOME} $((1+1)) {planned} }}"),
            ("{{no.such.name}}", "{{no.such.name}}"),
            ("{\"a\": {\"b\": 1}}", "{\"a\": {\"b\": 1}}"),
        ];
        for (template, expected) in table {
            check_filled(&json!(template), &json!(expected));
        }
        for text in ["{{.Names}}", "{{{a}}}", "{{{{", "a {{ b", "plain"] {
            check_filled(&json!(escaped(text)), &json!(text));
        }
    }

    #[test]
    fn an_unknown_name_is_an_error_with_its_place() {
        let parameters = json!({
            "command": "日志 {{plannedd}}",
            "headers": {"Day": ["ok {{planned.date}}", "{{ }}"]},
            "body": "x {{planned",
            "fine": "{{{{.Names}} {{upstream.result.a.b}}",
        });
        let wrong = check(parameters.as_object().expect("an object"));
        let found: Vec<_> = wrong.iter().map(|wrong| (wrong.path.as_str(), wrong.position)).collect();
        assert_eq!(found, [("command", 4), ("headers.Day.1", 1), ("body", 3)]);
        assert_eq!(
            wrong[0].words.en,
            "nothing is called \"plannedd\"; where two opening braces are meant themselves, write four"
        );
        assert!(wrong.iter().all(|wrong| !wrong.words.zh.is_ascii()));
    }
}
