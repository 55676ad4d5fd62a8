//! From the protocol's messages to the engine's words, and back.

use campanile_engine::link::{
    AttemptRef, FromExecutor, ItemOutcome, Machine, Method, NodeAddress, ProcessorOffer, Push, Question, Registration,
    Report, Said, ShardEnd, ToExecutor, Upstream,
};
use campanile_engine::logs::{LogLine, LogStream};
use campanile_engine::roster::EXECUTOR_LEASE;
use campanile_model::instance::Origin;
use campanile_model::task::{ExecutorRef, StopStage};
use campanile_model::{Code, Failure, FailureClass, Fault, Timestamp, Words};
use campanile_proto::{MAX_ITEMS_PER_REPORT, MAX_RESULT_BYTES, PROTOCOL_VERSION, v1};
use serde_json::Value;

use crate::Admission;

const HEARTBEAT_MS: u32 = 1000;

const LONGEST_NAME: usize = 200;

/// More than this nobody runs, whatever it says; it also bounds what may be on its way to it.
const MOST_CAPACITY: u32 = 10_000;

/// None: a message that the engine has no use for.
pub fn from_executor(message: v1::FromExecutor, admission: Admission) -> Result<Option<FromExecutor>, Fault> {
    use v1::from_executor::Message;

    let Some(message) = message.message else { return Ok(None) };
    let said = match message {
        Message::Register(register) => FromExecutor::Register(registration(register, admission)?),
        Message::Heartbeat(heartbeat) => FromExecutor::Heartbeat {
            number: heartbeat.number,
            machine: heartbeat.machine.map(|machine| self::machine(&machine)),
        },
        Message::Report(report) => return self::report(report),
        Message::Capacity(capacity) => FromExecutor::Capacity {
            capacity: capacity.running.min(MOST_CAPACITY),
            queue: capacity.queued.min(MOST_CAPACITY),
        },
        Message::Draining(draining) => FromExecutor::Draining { leaving: draining.leaving },
        Message::Goodbye(_) => FromExecutor::Goodbye,
        Message::StillNeededAnswer(answer) => {
            FromExecutor::StillNeeded { question: answer.question_id, needed: answer.needed, message: answer.message }
        }
        // They are answered before it comes to this.
        Message::AskLocks(_) | Message::LeaveLocks(_) => return Ok(None),
    };
    Ok(Some(said))
}

fn registration(register: v1::Register, admission: Admission) -> Result<Registration, Fault> {
    if register.protocol_version != PROTOCOL_VERSION {
        return Err(Code::ProtocolVersion.fault().with("version", register.protocol_version));
    }
    let executor = ExecutorRef {
        group: name("group", register.group)?,
        name: name("name", register.name)?,
        boot: name("boot_id", register.boot_id)?,
    };
    let capacity = register.capacity.unwrap_or_default();
    let offers = register.processors.into_iter().map(offer).collect::<Result<_, _>>()?;
    let still_held = register
        .still_held
        .into_iter()
        .filter_map(|held| held.attempt)
        .map(|about| attempt(&about))
        .collect::<Result<_, _>>()?;
    let public_key = match register.public_key.len() {
        0 => None,
        _ => Some(register.public_key.try_into().map_err(|_| malformed("the public key must have 32 bytes"))?),
    };
    Ok(Registration {
        executor,
        embedded: admission == Admission::Embedded,
        processors: offers,
        labels: register.labels.into_iter().collect(),
        sdk_version: register.sdk_version,
        public_key,
        capacity: capacity.running.min(MOST_CAPACITY),
        queue: capacity.queued.min(MOST_CAPACITY),
        still_held,
    })
}

/// A reading that is no number is unknown.
fn machine(machine: &v1::Machine) -> Machine {
    let number = |reading: Option<f64>| reading.filter(|number| number.is_finite() && *number >= 0.0);
    Machine {
        cpu_percent: number(machine.cpu_percent),
        memory_percent: number(machine.memory_percent),
        disk_queue: number(machine.disk_queue),
        cores: machine.cores,
    }
}

fn name(field: &str, text: String) -> Result<String, Fault> {
    if text.is_empty() || text.len() > LONGEST_NAME || text.chars().any(char::is_control) {
        return Err(malformed(format!("{field} must be 1 to {LONGEST_NAME} characters without control characters")));
    }
    Ok(text)
}

fn malformed(reason: impl std::fmt::Display) -> Fault {
    Code::BadRequest.fault().with("reason", reason)
}

fn offer(processor: v1::Processor) -> Result<ProcessorOffer, Fault> {
    let schema = match processor.parameter_schema_json.as_str() {
        "" => Value::Null,
        text => serde_json::from_str(text)
            .map_err(|error| malformed(format!("the schema of processor {}: {error}", processor.name)))?,
    };
    let is_plain = processor.kind() == v1::ProcessorKind::Unicast && processor.methods.is_empty();
    let mut methods: Vec<Method> = processor.methods.iter().copied().filter_map(method_of).collect();
    if is_plain {
        methods.push(Method::Process);
    }
    let or = |text: String, other: &str| if text.is_empty() { other.to_owned() } else { text };
    let title_en = or(processor.title_en, &processor.name);
    let title_zh = or(processor.title_zh, &title_en);
    let description_zh = or(processor.description_zh, &processor.description_en);
    Ok(ProcessorOffer {
        name: name("processor name", processor.name)?,
        title: Words::new(title_en, title_zh),
        description: Words::new(processor.description_en, description_zh),
        schema,
        stops_without_lease: processor.stop_without_lease,
        answers_still_needed: processor.answers_still_needed,
        methods,
    })
}

pub fn attempt(attempt: &v1::AttemptRef) -> Result<AttemptRef, Fault> {
    let task = attempt.task_id.parse().map_err(|_| malformed(format!("'{}' is not a task id", attempt.task_id)))?;
    Ok(AttemptRef { task, attempt: attempt.attempt })
}

fn report(report: v1::Report) -> Result<Option<FromExecutor>, Fault> {
    use v1::report::What;

    let Some(about) = report.attempt else { return Err(malformed("a report about no attempt")) };
    let about = attempt(&about)?;
    let Some(what) = report.what else { return Ok(None) };
    let said = match what {
        What::Accepted(_) => Said::Accepted,
        What::Started(_) => Said::Started,
        What::Progress(progress) => Said::Progress {
            percent: progress.percent.filter(|percent| percent.is_finite()).map(|percent| percent.clamp(0.0, 100.0)),
            message: progress.message,
        },
        What::Items(items) if items.outcomes.len() > MAX_ITEMS_PER_REPORT => {
            return Err(malformed(format!("more than {MAX_ITEMS_PER_REPORT} items in one report")));
        }
        What::Items(items) => Said::Items(items.outcomes.into_iter().map(item).collect()),
        What::NewData(data) => Said::NewData { level: data.level, items: data.items_json, last: data.last },
        What::HandedBack(back) if back.reason() == v1::HandBackReason::AlreadyEnded => Said::Unheld,
        What::HandedBack(back) => Said::HandedBack(hand_back_words(&back)),
        What::LogLines(log) => {
            let lines = log_lines(log);
            return Ok(Some(FromExecutor::Log { attempt: about, sequence: report.sequence, lines }));
        }
        What::CancelStage(stage) => match stage.reached() {
            v1::CancelReached::Terminated => Said::Stopping(StopStage::Terminated),
            v1::CancelReached::Killed => Said::Stopping(StopStage::Killed),
            v1::CancelReached::Gone => Said::Unheld,
            v1::CancelReached::Acknowledged | v1::CancelReached::Unspecified => Said::Stopping(StopStage::Acknowledged),
        },
        What::Finished(finished) => self::finished(finished)?,
    };
    Ok(Some(FromExecutor::Report(Report { attempt: about, sequence: report.sequence, said })))
}

fn item(outcome: v1::ItemOutcome) -> ItemOutcome {
    ItemOutcome { index: outcome.index, succeeded: outcome.succeeded, message: outcome.message }
}

fn hand_back_words(back: &v1::HandedBack) -> Words {
    let words = match back.reason() {
        v1::HandBackReason::NoRoom => Words::new("the executor had no room", "执行器已满"),
        v1::HandBackReason::Draining => Words::new("the executor takes nothing new", "执行器不再接收新作业"),
        v1::HandBackReason::UnknownProcessor => {
            Words::new("the executor has no such processor", "执行器没有该 Processor")
        }
        v1::HandBackReason::Withdrawn => Words::new("taken back before it began", "在开始前被收回"),
        v1::HandBackReason::Incomplete => Words::new("its data did not arrive whole", "数据未完整到达"),
        v1::HandBackReason::Unknown | v1::HandBackReason::AlreadyEnded => {
            Words::new("the executor does not have it", "执行器没有该作业")
        }
        v1::HandBackReason::Unspecified => Words::new("handed back", "被退回"),
    };
    match back.message.as_str() {
        "" => words,
        more => Words::new(format!("{}: {more}", words.en), format!("{}：{more}", words.zh)),
    }
}

fn log_lines(log: v1::LogLines) -> Vec<LogLine> {
    let mut lines = Vec::with_capacity(log.lines.len() + 1);
    if log.dropped > 0 {
        let at = log.lines.first().map_or(0, |line| line.at_ms);
        lines.push(LogLine {
            at: Timestamp::from_millis(at),
            stream: LogStream::Log,
            text: format!("[{} lines were lost here: they came faster than they could be taken]", log.dropped),
        });
    }
    lines.extend(log.lines.into_iter().map(|line| LogLine {
        at: Timestamp::from_millis(line.at_ms),
        stream: match line.stream() {
            v1::LogStream::Stdout => LogStream::Stdout,
            v1::LogStream::Stderr => LogStream::Stderr,
            v1::LogStream::Log | v1::LogStream::Unspecified => LogStream::Log,
        },
        text: line.text,
    }));
    lines
}

fn finished(finished: v1::Finished) -> Result<Said, Fault> {
    use v1::finished::Outcome;

    Ok(match finished.outcome {
        // Said once more after a refusal it would be refused for ever.
        Some(Outcome::Succeeded(succeeded)) if succeeded.result_json.len() > MAX_RESULT_BYTES => {
            let fault = Code::ResultTooLarge.fault();
            let fault = fault.with("bytes", succeeded.result_json.len()).with("limit", MAX_RESULT_BYTES);
            Said::Failed(Failure { class: FailureClass::Business, code: fault.code, message: fault.message })
        }
        Some(Outcome::Succeeded(succeeded)) => {
            let result = Some(succeeded.result_json).filter(|json| !json.is_empty() && json != "null");
            Said::Succeeded { result }
        }
        Some(Outcome::Failed(failed)) => {
            let message_zh = match failed.message_zh.is_empty() {
                true => failed.message_en.clone(),
                false => failed.message_zh.clone(),
            };
            let class = match failed.class() {
                v1::FailureClass::Business => FailureClass::Business,
                v1::FailureClass::System => FailureClass::System,
                v1::FailureClass::Transient | v1::FailureClass::Unspecified => FailureClass::Transient,
            };
            Said::Failed(Failure { class, code: failed.code, message: Words::new(failed.message_en, message_zh) })
        }
        Some(Outcome::Cancelled(_)) => Said::Cancelled,
        None => return Err(malformed("a task that finished without an outcome")),
    })
}

pub fn to_executor(what: ToExecutor, nodes: &[NodeAddress]) -> v1::ToExecutor {
    use v1::to_executor::Message;

    let message = match what {
        ToExecutor::Welcome { node, still_yours, draining } => Message::Welcome(v1::Welcome {
            protocol_version: PROTOCOL_VERSION,
            node,
            heartbeat_ms: HEARTBEAT_MS,
            lease_ms: lease_ms(),
            nodes: nodes.iter().map(address).collect(),
            still_yours: still_yours
                .into_iter()
                .map(|(attempt, stored_sequence)| v1::StillYours { attempt: Some(ours(attempt)), stored_sequence })
                .collect(),
            draining,
        }),
        ToExecutor::Refused(fault) => Message::Refused(refused(fault)),
        ToExecutor::HeartbeatSeen { number } => {
            Message::HeartbeatAck(v1::HeartbeatAck { number, lease_ms: lease_ms() })
        }
        ToExecutor::Push(push) => Message::Push(self::push(*push)),
        ToExecutor::ShardData { attempt, level, items, last } => Message::ShardData(v1::ShardData {
            attempt: Some(ours(attempt)),
            level,
            items: items.into_iter().map(|(index, value_json)| v1::DataItem { index, value_json }).collect(),
            last,
        }),
        ToExecutor::ShardEnds { attempt, ends, last } => Message::ShardEnds(v1::ShardEnds {
            attempt: Some(ours(attempt)),
            ends: ends.into_iter().map(shard_end).collect(),
            last,
        }),
        ToExecutor::Withdraw(attempt) => Message::Withdraw(v1::Withdraw { attempt: Some(ours(attempt)) }),
        ToExecutor::Stop { attempt, stage } => {
            let ask = match stage {
                StopStage::Asked | StopStage::Acknowledged => v1::CancelAsk::Ask,
                StopStage::Terminated => v1::CancelAsk::Terminate,
                StopStage::Killed => v1::CancelAsk::Kill,
            };
            Message::Cancel(v1::Cancel { attempt: Some(ours(attempt)), ask: ask.into(), reason: String::new() })
        }
        ToExecutor::Seen { attempt, sequence } => Message::Ack(v1::Ack { attempt: Some(ours(attempt)), sequence }),
        ToExecutor::Forget(attempt) => Message::Forget(v1::Forget { attempt: Some(ours(attempt)) }),
        ToExecutor::Drain { reason } => Message::Drain(v1::Drain { reason }),
        ToExecutor::Resume => Message::Resume(v1::Resume {}),
        ToExecutor::StillNeeded(question) => Message::StillNeeded(still_needed(*question)),
        ToExecutor::Nodes(nodes) => Message::Nodes(v1::Nodes { nodes: nodes.iter().map(address).collect() }),
    };
    v1::ToExecutor { message: Some(message) }
}

fn lease_ms() -> u32 {
    u32::try_from(EXECUTOR_LEASE.as_millis()).unwrap_or(u32::MAX)
}

fn ours(attempt: AttemptRef) -> v1::AttemptRef {
    v1::AttemptRef { task_id: attempt.task.to_string(), attempt: attempt.attempt }
}

fn address(node: &NodeAddress) -> v1::NodeAddress {
    v1::NodeAddress { name: node.name.clone(), address: node.address.clone() }
}

fn refused(fault: Fault) -> v1::Refused {
    // What will be the same next time: who it is, what it speaks.
    let for_good = [Code::ProtocolVersion, Code::ExecutorTokenRefused].into_iter().any(|code| fault.is(code));
    v1::Refused {
        code: fault.code,
        message_en: fault.message.en,
        message_zh: fault.message.zh,
        retry_after_ms: if for_good { 0 } else { u64::from(HEARTBEAT_MS) },
    }
}

fn still_needed(question: Question) -> v1::StillNeeded {
    let context = v1::Context {
        job: question.job,
        job_version: question.version,
        instance_id: question.instance,
        origin: origin(question.origin),
        planned_ms: question.planned.millis(),
        due_ms: question.due.millis(),
        tenant: question.tenant.unwrap_or_default(),
        ..v1::Context::default()
    };
    v1::StillNeeded {
        question_id: question.id,
        processor: question.processor,
        parameters_json: question.parameters,
        context: Some(context),
    }
}

fn origin(origin: Origin) -> String {
    origin.name().to_owned()
}

fn push(push: Push) -> v1::Push {
    let overrun = match push.kill_on_overrun {
        true => v1::OverrunPolicy::Kill,
        false => v1::OverrunPolicy::Note,
    };
    v1::Push {
        attempt: Some(ours(push.attempt)),
        idempotency_key: push.idempotency_key,
        processor: push.processor,
        method: method(push.method).into(),
        parameters_json: push.parameters,
        context: Some(v1::Context {
            job: push.job,
            job_version: push.version,
            instance_id: push.instance,
            origin: origin(push.origin),
            planned_ms: push.planned.millis(),
            due_ms: push.due.millis(),
            deadline_ms: push.deadline.map(Timestamp::millis),
            overrun: overrun.into(),
            tenant: push.tenant.unwrap_or_default(),
            upstream: push.upstream.into_iter().map(upstream).collect(),
        }),
        sequence_after: push.sequence_after,
        secrets: push
            .secrets
            .into_iter()
            .map(|secret| v1::SealedSecret { name: secret.name, ciphertext: secret.ciphertext })
            .collect(),
        shard: push.shard.map(|shard| v1::Shard {
            level: shard.level,
            level_count: shard.level_count,
            index: shard.index,
            count: shard.count,
            round: shard.round,
            item_count: shard.items,
        }),
        notice: push.notice.map(|tally| v1::Notice {
            items_done: tally.done,
            items_total: tally.total,
            percent: tally.percent(),
        }),
        more_follows: push.more_follows,
    }
}

fn method(method: Method) -> v1::Method {
    match method {
        Method::Process => v1::Method::Process,
        Method::PreProcess => v1::Method::PreProcess,
        Method::ShardingProcess => v1::Method::ShardingProcess,
        Method::Notify => v1::Method::Notify,
        Method::PostProcess => v1::Method::PostProcess,
    }
}

/// One that this node does not know is passed over.
fn method_of(method: i32) -> Option<Method> {
    match v1::Method::try_from(method).ok()? {
        v1::Method::Process => Some(Method::Process),
        v1::Method::PreProcess => Some(Method::PreProcess),
        v1::Method::ShardingProcess => Some(Method::ShardingProcess),
        v1::Method::Notify => Some(Method::Notify),
        v1::Method::PostProcess => Some(Method::PostProcess),
        v1::Method::Unspecified => None,
    }
}

fn shard_end(end: ShardEnd) -> v1::ShardEnd {
    let error = end.failure.map(|failure| {
        let class = match failure.class {
            FailureClass::Transient => v1::FailureClass::Transient,
            FailureClass::Business => v1::FailureClass::Business,
            FailureClass::System => v1::FailureClass::System,
        };
        v1::Failure {
            class: class.into(),
            code: failure.code,
            message_en: failure.message.en,
            message_zh: failure.message.zh,
        }
    });
    let code = u32::from(end.state.code());
    v1::ShardEnd { level: end.level, shard: end.shard, code, result_json: end.result, error }
}

fn upstream(upstream: Upstream) -> v1::Upstream {
    v1::Upstream { job: upstream.job, instance_id: upstream.instance, result_json: upstream.result }
}
