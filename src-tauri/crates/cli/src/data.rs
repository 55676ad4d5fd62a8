//! Runs that are given the items of a file, followed to their end; and the report of what became of them.

use std::io::{ErrorKind, Write as _};
use std::path::Path;
use std::time::{Duration, Instant};

use campanile_api::views::*;
use campanile_host::{Wanted, WantedReport};
use campanile_model::instance::InstanceState;
use campanile_model::sharding::Tally;
use campanile_model::{Code, Fault, Words};
use serde::Deserialize;
use serde_json::json;

use crate::Answer;
use crate::arguments::{Report, Run};
use crate::following::{Line, Pace};
use crate::runs;
use crate::session::Session;

const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Between two figures by which a rate is told.
const RATE_OVER: Duration = Duration::from_secs(30);

/// Reads the file, starts a run with what is in it, and follows it.
pub async fn run(session: &Session, run: Run, file: &Path) -> Result<Answer, Fault> {
    let [job] = run.jobs.as_slice() else {
        let reason = Words::new("a file with data is for one job", "数据文件只能用于一个任务");
        return Err(Code::BadRequest.fault().with_words("reason", &reason));
    };
    if !run.no_wait {
        let status: Status = session.ask("status", json!({})).await?;
        if status.node == NodeState::Leaderless {
            // Nobody would run it.
            return Err(Code::NotLeading.fault());
        }
    }
    let given = session.hand_in(file)?;
    let taken_in = tokio::select! {
        taken_in = take_in(session, &run, &given) => taken_in?,
        () = interrupted() => {
            let _: DoneView = session.ask("discard_data", json!({"file": given.file})).await?;
            eprintln!("\n{}", session.say("stopped; nothing was started", "已停止；没有启动任何运行"));
            return Ok(Answer::Left);
        }
    };
    let parameters = runs::parameters(session, &run).await?;
    let input = json!({
        "jobs": [job], "parameters": parameters, "beside": run.beside, "executor": run.executor, "data": taken_in,
    });
    let done: DoneView = session.ask("run_jobs", input).await?;
    let instance = done.instances.first().cloned().unwrap_or_default();
    if run.no_wait {
        return runs::started(session, &done);
    }
    tokio::select! {
        ended = follow(session, &instance) => {
            ended?;
            runs::ended(session, &done.instances).await
        }
        () = interrupted() => {
            let en = format!("\nnot followed any more; run {instance} goes on (stop it: campanile cancel {instance})");
            let zh = format!("\n不再跟踪；运行 {instance} 仍在继续（停止：campanile cancel {instance}）");
            eprintln!("{}", session.say(&en, &zh));
            Ok(Answer::Left)
        }
    }
}

async fn interrupted() {
    if tokio::signal::ctrl_c().await.is_err() {
        // Nobody can interrupt it then.
        std::future::pending::<()>().await;
    }
}

/// Looks at the file and takes it in: what a run takes.
async fn take_in(session: &Session, run: &Run, given: &GivenFile) -> Result<String, Fault> {
    let look = json!({
        "file": given.file, "levelColumn": run.level_column, "sheet": run.sheet, "encoding": run.encoding,
        "headerless": run.headerless,
    });
    let mut line = Line::new(session);
    let began: DataView = session.ask("look_at_data", look).await?;
    let looked = read(session, began, session.say("looking", "查看"), &mut line).await?;
    if let Some(look) = &looked.look
        && let Some(first) = look.faults.first()
    {
        for fault in &look.faults {
            let (row, words) = (fault.row, session.lang.of(&fault.words));
            line.say(&format!("{}: {words}", session.say(&format!("row {row}"), &format!("第 {row} 行"))));
        }
        let more = look.faulty.saturating_sub(look.faults.len() as u64);
        if more > 0 {
            line.say(session.say(&format!("and {more} rows more"), &format!("另有 {more} 行")));
        }
        let fault = Code::DataRowRefused.fault().with("row", first.row).with("file", &given.name);
        return Err(fault.with_words("reason", &first.words));
    }
    let began: DataView = session.ask("stage_data", json!({"file": given.file})).await?;
    let staged = read(session, began, session.say("reading", "载入"), &mut line).await?;
    let (items, levels) = (staged.items, staged.look.as_ref().map_or(0, |look| look.levels));
    let en = format!("{}: {items} items in {levels} levels", given.name);
    let zh = format!("{}：{items} 项，{levels} 个层级", given.name);
    line.say(session.say(&en, &zh));
    staged.data.ok_or_else(|| Code::DataGone.fault().with("data", &given.name))
}

/// Until it is read; how far it is stands on the terminal meanwhile.
async fn read(session: &Session, mut view: DataView, what: &str, line: &mut Line) -> Result<DataView, Fault> {
    loop {
        if let Some(fault) = view.fault {
            line.end();
            return Err(fault);
        }
        let items = session.say("items", "项").to_owned();
        let percent = view.part * 100.0;
        if !matches!(view.phase, DataPhase::Looking | DataPhase::Staging) {
            line.end();
            return Ok(view);
        }
        line.show(view.part, &format!("{what} {percent:.0} %, {} {items}", view.items));
        view = session.ask("data_file", json!({"file": view.file})).await?;
    }
}

/// Of a run, what is followed.
#[derive(Deserialize)]
struct Followed {
    row: FollowedRow,
}

#[derive(Deserialize)]
struct FollowedRow {
    state: InstanceState,
    sharding: Option<FollowedShards>,
}

#[derive(Deserialize)]
struct FollowedShards {
    tally: Tally,
}

/// Until the run has ended.
async fn follow(session: &Session, instance: &str) -> Result<(), Fault> {
    let mut line = Line::new(session);
    let mut pace = Pace::new(RATE_OVER);
    let mut led_at = Instant::now();
    loop {
        let followed: Followed = session.ask("get_instance", json!({"instance": instance})).await?;
        if let Some(FollowedShards { tally }) = &followed.row.sharding
            && tally.total > 0
        {
            pace.add(Instant::now(), tally.done);
            line.show(tally.percent() / 100.0, &told(session, *tally, &pace));
        }
        if followed.row.state.is_final() {
            line.end();
            return Ok(());
        }
        let status: Status = session.ask("status", json!({})).await?;
        if status.node != NodeState::Leaderless {
            led_at = Instant::now();
        } else if led_at.elapsed() >= runs::NOBODY_COMES {
            line.end();
            return Err(Code::NotLeading.fault());
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

fn told(session: &Session, tally: Tally, pace: &Pace) -> String {
    let Tally { done, total } = tally;
    let mut text = session.say(&format!("{done} of {total} items"), &format!("{done} / {total} 项")).to_owned();
    if let Some(rate) = pace.rate() {
        text.push_str(session.say(&format!(", {rate:.0}/s"), &format!("，{rate:.0} 项/秒")));
        #[expect(clippy::cast_precision_loss, reason = "for showing")]
        let left = total.saturating_sub(done) as f64 / rate;
        if rate > 0.0 && left > 0.0 {
            let left = clock(left);
            text.push_str(session.say(&format!(", {left} left"), &format!("，剩余 {left}")));
        }
    }
    text
}

/// `1:05`, `2:00:00`.
fn clock(seconds: f64) -> String {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "for showing")]
    let seconds = seconds.ceil() as u64;
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours > 0 { format!("{hours}:{minutes:02}:{seconds:02}") } else { format!("{minutes}:{seconds:02}") }
}

/// What became of every item of a run, into a file.
pub async fn report(session: &Session, report: Report) -> Result<Answer, Fault> {
    let to_output = report.output.as_os_str() == "-";
    let ending = report.output.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let format = match ending.to_ascii_lowercase().as_str() {
        _ if to_output => ReportFormat::Csv,
        "csv" => ReportFormat::Csv,
        "xlsx" => ReportFormat::Xlsx,
        _ => {
            let reason = Words::new("a report is a .csv or an .xlsx", "报告应为 .csv 或 .xlsx 文件");
            return Err(Code::BadRequest.fault().with_words("reason", &reason).at("output"));
        }
    };
    let name = report.output.display().to_string();
    let wanted = Wanted::Report(WantedReport { instance: report.run, format, name });
    let saving = async {
        match to_output {
            true => pour(session, &wanted).await,
            false => session.save(&wanted, &report.output).await,
        }
    };
    tokio::select! {
        saved = saving => saved.map(|()| Answer::Yes),
        () = interrupted() => Ok(Answer::Left),
    }
}

/// To the standard output; whoever reads it may have gone.
async fn pour(session: &Session, wanted: &Wanted) -> Result<(), Fault> {
    let mut pieces = session.pieces(wanted).await?;
    let mut output = std::io::stdout();
    while let Some(piece) = session.next(&mut pieces).await? {
        match output.write_all(&piece).and_then(|()| output.flush()) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(()),
            Err(error) if error.kind() == ErrorKind::StorageFull => return Err(Code::DiskFull.fault()),
            Err(error) => return Err(Code::ReportUnwritable.fault().with("file", "-").with("reason", error)),
        }
    }
    Ok(())
}
