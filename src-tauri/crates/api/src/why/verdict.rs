//! The whole of a run in a sentence: how it began, how it ended, and what made it late. Pure.

use campanile_model::instance::InstanceState;
use campanile_model::task::TaskState;
use campanile_model::{Timestamp, Words};

use super::compose::{Facts, PROMPT_MS, lane_words, span_en, span_zh};
use crate::views::WaitingView;

pub(super) fn verdict(facts: &Facts<'_>, waiting: Option<&WaitingView>) -> Words {
    let instance = facts.instance;
    let from = match instance.started_at {
        Some(started) => {
            let late = started.millis() - instance.due.millis();
            match late {
                ..PROMPT_MS => Words::new("It started on time", "准时开始"),
                late => {
                    let most = latest_cause(facts);
                    Words::new(
                        format!("It started {} late{}", span_en(late), most.en),
                        format!("晚 {} 开始{}", span_zh(late), most.zh),
                    )
                }
            }
        }
        None if instance.state.is_final() => Words::new("It never started", "从未开始"),
        None => Words::new("It has not started", "尚未开始"),
    };
    let failure = facts.tasks.iter().find_map(|(task, _)| task.failure.as_ref());
    let attempts = facts.tasks.iter().map(|(task, _)| task.attempt()).max().unwrap_or(1);
    let end = match (instance.state, waiting) {
        (InstanceState::Succeeded, _) if attempts > 1 => {
            Words::new(format!(" and succeeded at attempt {attempts}."), format!("，第 {attempts} 次尝试成功。"))
        }
        (InstanceState::Succeeded, _) => Words::new(" and succeeded.", "，已成功。"),
        (InstanceState::Failed, _) => match failure {
            Some(failure) => Words::new(
                format!(" and failed after {}: {}.", times_en(attempts), failure.message.en.trim_end_matches('.')),
                format!("，尝试 {attempts} 次后失败：{}。", failure.message.zh.trim_end_matches('。')),
            ),
            None => Words::new(" and failed.", "，已失败。"),
        },
        (InstanceState::Cancelled, _) => Words::new(" and was cancelled.", "，已取消。"),
        (InstanceState::Superseded, _) => {
            Words::new("; it was no longer worth doing when its turn came.", "；轮到它时已无必要执行。")
        }
        (_, Some(waiting)) => {
            Words::new(format!("; now it {}.", says(&waiting.words.en)), format!("；现在{}。", waiting.words.zh))
        }
        (_, None) => Words::new(".", "。"),
    };
    Words::new(format!("{}{}", from.en, end.en), format!("{}{}", from.zh, end.zh))
}

/// Words that begin with a noun stand after a colon.
fn says(words: &str) -> String {
    let verb = ["waits", "runs", "still runs", "is ", "was "];
    match verb.iter().any(|verb| words.starts_with(verb)) {
        true => words.to_owned(),
        false => format!("waits: {words}"),
    }
}

/// Where most of a late start was spent.
fn latest_cause(facts: &Facts<'_>) -> Words {
    let instance = facts.instance;
    let Some((task, history)) = facts.tasks.first() else { return Words::default() };
    let first = |to: TaskState| history.iter().find(|entry| entry.to == to).map(|entry| entry.at);
    let moments = [
        (Some(instance.due), Words::default()),
        (Some(instance.created), Words::new("nobody drove the engine when it was due", "应触发时无人驱动引擎")),
        (instance.assigned_at, Words::new("it waited for an earlier run of its job", "它等待了该任务的前一次运行")),
        (first(TaskState::Ready), Words::new("its turn came later", "它的轮次较晚")),
        (
            first(TaskState::Pushed),
            Words::new(
                format!("it waited in lane {} for an executor", lane_words(task.lane).en),
                format!("它在 {} 通道等待执行器", lane_words(task.lane).zh),
            ),
        ),
        (first(TaskState::Running), Words::new("it waited at the executor for a free place", "它在执行器上等待空位")),
    ];
    let mut worst: Option<(i64, &Words)> = None;
    let mut before: Option<Timestamp> = None;
    for (at, words) in &moments {
        let Some(at) = *at else { continue };
        if let Some(before) = before {
            let gap = at.millis() - before.millis();
            if worst.as_ref().is_none_or(|(most, _)| gap > *most) {
                worst = Some((gap, words));
            }
        }
        before = Some(at);
    }
    match worst {
        Some((gap, words)) if gap >= PROMPT_MS => Words::new(format!(": {}", words.en), format!("：{}", words.zh)),
        _ => Words::default(),
    }
}

fn times_en(attempts: u32) -> String {
    match attempts {
        1 => "one attempt".to_owned(),
        many => format!("{many} attempts"),
    }
}
