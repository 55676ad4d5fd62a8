//! `campanile`: everything that can be asked, for terminals and scripts.
//!
//! Carries what is typed to the API and writes what comes back; no rule lives here. Exit codes: 0 it
//! is done, 1 the answer is no, 2 the line makes no sense, 3 it was refused, 4 storage or engine
//! cannot be reached, 130 somebody broke it off.

mod alarms;
mod arguments;
mod calendars;
mod config;
mod data;
mod executors;
mod following;
mod future;
mod jobs;
mod locks;
mod nodes;
mod runs;
mod said;
mod serve;
mod session;
mod tokens;
mod why;
mod zones;

use std::process::ExitCode;

use campanile_host::config::Config;
use campanile_model::Fault;
use clap::FromArgMatches;

use crate::arguments::{CertsVerb, ImportFrom, Line, TokenVerb, Verb, ZonesVerb};
use crate::said::Lang;
use crate::session::Session;

/// How a command ended that was not refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    Yes,
    /// The check failed, or the run did.
    No,
    /// Somebody broke it off.
    Left,
}

fn main() -> ExitCode {
    let typed: Vec<String> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    let lang = Lang::of_line(&typed);
    let typed = arguments::with_items(typed, std::path::Path::is_dir);
    let line =
        match arguments::command(lang).try_get_matches_from(typed).and_then(|matches| Line::from_arg_matches(&matches))
        {
            Ok(line) => line,
            // Help and version come this way too; only what makes no sense is an error.
            Err(error) => error.exit(),
        };
    let json = line.json;
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(4);
        }
    };
    match runtime.block_on(Box::pin(carry_out(line, lang))) {
        Ok(Answer::Yes) => ExitCode::SUCCESS,
        Ok(Answer::No) => ExitCode::from(1),
        Ok(Answer::Left) => ExitCode::from(130),
        Err(fault) => {
            match json {
                true => eprintln!("{}", serde_json::to_string(&fault).unwrap_or_else(|_| fault.to_string())),
                false => eprintln!("{}", said::fault(&fault, lang)),
            }
            ExitCode::from(exit_code(&fault))
        }
    }
}

async fn carry_out(line: Line, lang: Lang) -> Result<Answer, Fault> {
    let Line { data, json, zone, verb, config: named, .. } = line;
    // A schedule of its own needs no folder, and none is made for it. Where one is named its calendars count.
    if let Verb::Preview(preview) = &verb
        && data.is_none()
        && let Some(schedule) = &preview.schedule
    {
        return future::preview_alone(schedule, preview, zone.as_deref(), json, lang);
    }
    if let Verb::Certs(certs) = &verb {
        let CertsVerb::Make(make) = &certs.what;
        return tokens::make_certs(make, json, lang);
    }
    let mut flags = match &verb {
        Verb::Serve(options) => options.flags(),
        _ => Vec::new(),
    };
    flags.extend(data.map(|data| ("data", "--data", data.display().to_string())));
    let config = Config::read(named.as_deref(), flags, |name| std::env::var(name).ok())?;
    let data = config.path("data").unwrap_or_else(campanile_host::DataFolder::default_path);
    match verb {
        Verb::Config => return Ok(config::show(&config, json, lang)),
        Verb::Serve(_) => return serve::serve(data, &config, json).await,
        _ => {}
    }
    let session = Session::open(data, &config, zone.unwrap_or_default(), json, lang).await?;
    let answer = match verb {
        Verb::Serve(_) | Verb::Certs(_) | Verb::Config => Ok(Answer::Yes),
        Verb::Preview(preview) => future::preview(&session, preview).await,
        Verb::Reschedule(drag) => future::reschedule(&session, drag).await,
        Verb::Backfill(backfill) => future::backfill(&session, backfill).await,
        Verb::Apply(apply) => jobs::apply(&session, apply).await,
        Verb::Export(export) => jobs::export(&session, export).await,
        Verb::Jobs(list) => jobs::list(&session, list).await,
        Verb::Import(import) => match import.from {
            ImportFrom::Crontab(crontab) => jobs::import_crontab(&session, crontab).await,
        },
        Verb::Calendar(of) => calendars::carry_out(&session, of.verb).await,
        Verb::Zones(of) => match of.verb {
            None => zones::show(&session).await,
            Some(ZonesVerb::Import(import)) => zones::import(&session, import).await,
        },
        Verb::Pause(of) => jobs::change(&session, "pause_jobs", of).await,
        Verb::Resume(of) => jobs::change(&session, "resume_jobs", of).await,
        Verb::Remove(of) => jobs::change(&session, "remove_jobs", of).await,
        Verb::Run(run) => runs::run(&session, run).await,
        Verb::Report(report) => data::report(&session, report).await,
        Verb::Runs(list) => runs::list(&session, list).await,
        Verb::Tasks(list) => runs::tasks(&session, list).await,
        Verb::Logs(logs) => runs::logs(&session, logs).await,
        Verb::Cancel(of) => runs::change(&session, "cancel_instance", of).await,
        Verb::Retry(of) => runs::change(&session, "retry_instance", of).await,
        Verb::Why(of) => why::why(&session, of).await,
        Verb::Executors => executors::list(&session).await,
        Verb::Locks => locks::list(&session).await,
        Verb::Nodes => nodes::list(&session).await,
        Verb::Drain(of) => executors::drain(&session, of).await,
        Verb::Undrain(of) => executors::undrain(&session, of).await,
        Verb::Secret(secret) => executors::secret(&session, secret.what).await,
        Verb::Alarms(list) => alarms::list(&session, list).await,
        Verb::Ack(ack) => alarms::acknowledge(&session, ack).await,
        Verb::Ledger => alarms::ledger(&session).await,
        Verb::Hold(hold) => alarms::hold(&session, hold).await,
        Verb::Release => alarms::release(&session).await,
        Verb::Audit(list) => alarms::audit(&session, list).await,
        Verb::Token(token) => match token.what {
            TokenVerb::Make(make) => tokens::make(&session, make).await,
            TokenVerb::List => tokens::list(&session).await,
            TokenVerb::Revoke(of) => tokens::revoke(&session, of).await,
        },
    };
    session.close().await;
    answer
}

/// Storage and coordination are unreachable; everything else was refused.
fn exit_code(fault: &Fault) -> u8 {
    match fault.code.starts_with("k_sc_ec_5") || fault.code.starts_with("k_sc_ec_6") {
        true => 4,
        false => 3,
    }
}
