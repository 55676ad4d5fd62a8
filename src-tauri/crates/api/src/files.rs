//! Files that people hand in, to start a run with what is in them: looked at first, then taken in.
//!
//! Nobody names a path here. Whoever may read a file hands it in (the window, a command, an upload) and gets a name for
//! it that cannot be guessed. What is known of it lives in this program alone, and is gone with it; what was taken in
//! stands in the store, for whoever runs a job with it.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use campanile_model::request::Role;
use campanile_model::sharding::Staged;
use campanile_model::{Code, DataId, Fault, Timestamp, Words};
use campanile_sheets::{Found, Kind, Options, Reading};

use crate::staging::{self, fault_of};
use crate::views::*;
use crate::{Api, CallContext};

/// Files at hand; whoever hands in another lets go of the one that was asked about longest ago.
const MOST_FILES: usize = 100;

/// How long an answer waits for a reading to end.
const ANSWER_WITHIN: Duration = Duration::from_millis(500);
const LOOK_EVERY: Duration = Duration::from_millis(20);

const MOST_LEVELS_SHOWN: usize = 100;

#[derive(Default)]
pub(crate) struct Files(Arc<Mutex<HashMap<String, Given>>>);

/// A file, and how far it is.
struct Given {
    path: PathBuf,
    name: String,
    bytes: u64,
    /// It is a copy of ours, and goes with this.
    ours: bool,
    asked: Timestamp,
    options: Options,
    /// Which reading it is: what an earlier one found is not wanted any more.
    turn: u64,
    reading: Reading,
    state: State,
    look: Option<Found>,
    data: Option<DataId>,
}

#[derive(Clone)]
enum State {
    Given,
    Looking,
    Looked,
    Staging,
    Staged,
    Failed(Fault),
}

impl Drop for Given {
    fn drop(&mut self) {
        self.reading.stop();
        if self.ours
            && let Err(error) = std::fs::remove_file(&self.path)
        {
            tracing::warn!(%error, file = %self.path.display(), "a copy that nobody needs any more stays");
        }
    }
}

impl Files {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Given>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where it is still at hand, and no other reading has begun.
    fn settle(&self, file: &str, turn: u64, settle: impl FnOnce(&mut Given)) -> bool {
        let mut files = self.lock();
        let given = files.get_mut(file).filter(|given| given.turn == turn);
        given.map(settle).is_some()
    }
}

impl Api {
    /// Takes note of a file that may be read here. `ours`: it is a copy, to be removed when nobody needs it any more.
    pub fn hand_in(&self, path: PathBuf, name: &str, ours: bool) -> Result<GivenFile, Fault> {
        let unreadable = |error: &std::io::Error| {
            let text = error.to_string();
            fault_of(&campanile_sheets::ReadError::Unreadable(Words::new(text.clone(), text)), name)
        };
        let bytes = std::fs::metadata(&path).map_err(|error| unreadable(&error))?.len();
        let drawn: [u8; 16] = rand::random();
        let file: String = drawn.iter().map(|byte| format!("{byte:02x}")).collect();
        let given = Given {
            path,
            name: name.to_owned(),
            bytes,
            ours,
            asked: self.now(),
            options: Options::default(),
            turn: 0,
            reading: Reading::default(),
            state: State::Given,
            look: None,
            data: None,
        };
        let mut files = self.files.lock();
        if files.len() >= MOST_FILES {
            let oldest = files.iter().min_by_key(|(_, given)| given.asked).map(|(file, _)| file.clone());
            oldest.map(|oldest| files.remove(&oldest));
        }
        files.insert(file.clone(), given);
        Ok(GivenFile { file, name: name.to_owned(), bytes })
    }

    /// Reads it to its end; nothing changes. An earlier reading of it ends.
    pub(crate) async fn look_at_data(&self, look: LookAtData, cx: &CallContext) -> Result<DataView, Fault> {
        may_run(cx)?;
        let file = look.file.clone();
        let options = options_of(look)?;
        let now = self.now();
        let (path, name, turn, reading, before) = {
            let mut files = self.files.lock();
            let given = files.get_mut(&file).ok_or_else(|| unknown(&file))?;
            if matches!(given.state, State::Staging) {
                let reason = Words::new("it is being taken in", "正在载入");
                return Err(Code::DataNotLooked.fault().with("file", &given.name).with_words("reason", &reason));
            }
            given.begin(State::Looking, now);
            given.options = options.clone();
            given.look = None;
            let before = given.data.take();
            (given.path.clone(), given.name.clone(), given.turn, given.reading.clone(), before)
        };
        if let Some(data) = before {
            discard(&self.desk, data).await;
        }
        let files = Files(self.files.0.clone());
        let of = file.clone();
        tokio::spawn(async move {
            let looked = staging::look(path, options, reading).await;
            files.settle(&of, turn, |given| match looked {
                Ok(found) => {
                    given.bytes = found.bytes;
                    given.look = Some(found);
                    given.state = State::Looked;
                }
                Err(error) => given.state = State::Failed(fault_of(&error, &name)),
            });
        });
        self.data_file(OfFile { file }, cx).await
    }

    /// How far it is; where it is being read, a moment later.
    pub(crate) async fn data_file(&self, of: OfFile, cx: &CallContext) -> Result<DataView, Fault> {
        let clock = &self.desk.clock;
        let until = clock.now() + ANSWER_WITHIN;
        loop {
            let view = {
                let mut files = self.files.lock();
                let given = files.get_mut(&of.file).ok_or_else(|| unknown(&of.file))?;
                given.asked = clock.now();
                given.view(&of.file, cx)
            };
            let goes_on = matches!(view.phase, DataPhase::Looking | DataPhase::Staging);
            if !goes_on || clock.now() >= until {
                return Ok(view);
            }
            clock.sleep_until(clock.now() + LOOK_EVERY).await;
        }
    }

    /// Reads once more what was looked at, into storage.
    pub(crate) async fn stage_data(&self, of: OfFile, cx: &CallContext) -> Result<DataView, Fault> {
        may_run(cx)?;
        let now = self.now();
        let (path, name, turn, reading, options, staged) = {
            let mut files = self.files.lock();
            let given = files.get_mut(&of.file).ok_or_else(|| unknown(&of.file))?;
            let not_yet =
                |reason: &Words| Code::DataNotLooked.fault().with("file", &given.name).with_words("reason", reason);
            let Some(found) = given.look.clone().filter(|_| matches!(given.state, State::Looked | State::Failed(_)))
            else {
                return Err(not_yet(&Words::new("it was not looked at", "尚未查看")));
            };
            if let Some(fault) = found.faults.first() {
                let refused = Code::DataRowRefused.fault().with("row", fault.row).with("file", &given.name);
                return Err(refused.with_words("reason", &fault.words));
            }
            let data = self.desk.dice.data_id(now);
            let staged = Staged {
                id: data,
                by: cx.who.name.clone(),
                at: now,
                source: given.name.clone(),
                sha256: found.sha256,
                items: 0,
                levels: 0,
                whole: false,
                instance: None,
            };
            given.begin(State::Staging, now);
            (given.path.clone(), given.name.clone(), given.turn, given.reading.clone(), given.options.clone(), staged)
        };
        let files = Files(self.files.0.clone());
        let (desk, file) = (self.desk.clone(), of.file.clone());
        tokio::spawn(async move {
            let id = staged.id;
            let outcome = staging::stage(&desk, staged, path, options, reading, &name).await;
            let is_there = outcome.is_ok();
            let settled = files.settle(&file, turn, |given| match outcome {
                Ok(_) => {
                    given.data = Some(id);
                    given.state = State::Staged;
                }
                Err(fault) => given.state = State::Failed(fault),
            });
            if is_there && !settled {
                discard(&desk, id).await;
            }
        });
        self.data_file(of, cx).await
    }

    /// Lets go of a file. What was taken in of it and is no run's goes too; a reading ends.
    pub(crate) async fn discard_data(&self, of: OfFile, cx: &CallContext) -> Result<DoneView, Fault> {
        may_run(cx)?;
        let given = self.files.lock().remove(&of.file);
        let changed = u32::from(given.is_some());
        if let Some(data) = given.and_then(|given| given.data) {
            discard(&self.desk, data).await;
        }
        Ok(DoneView { jobs: Vec::new(), instances: Vec::new(), changed, version: None })
    }
}

async fn discard(desk: &campanile_engine::Desk, data: DataId) {
    if let Err(error) = desk.store.discard_staged(data).await {
        tracing::warn!(error = &error as &dyn std::error::Error, %data, "data that nobody will take stays for a day");
    }
}

impl Given {
    fn begin(&mut self, state: State, now: Timestamp) {
        self.reading.stop();
        self.reading = Reading::default();
        self.turn += 1;
        self.asked = now;
        self.state = state;
    }

    fn view(&self, file: &str, cx: &CallContext) -> DataView {
        let (phase, fault) = match &self.state {
            State::Given => (DataPhase::Given, None),
            State::Looking => (DataPhase::Looking, None),
            State::Looked => (DataPhase::Looked, None),
            State::Staging => (DataPhase::Staging, None),
            State::Staged => (DataPhase::Staged, None),
            State::Failed(fault) => (DataPhase::Failed, Some(fault.clone())),
        };
        let goes_on = matches!(phase, DataPhase::Looking | DataPhase::Staging);
        // A workbook is read once for its hash, and once for its cells.
        let is_workbook = self.options.kind == Some(Kind::Workbook)
            || self.name.to_lowercase().ends_with(".xlsx")
            || self.look.as_ref().is_some_and(|look| look.kind == Kind::Workbook);
        let all = self.bytes * if is_workbook { 2 } else { 1 };
        #[expect(clippy::cast_precision_loss, reason = "for showing")]
        let part = if all == 0 { 0.0 } else { (self.reading.bytes() as f64 / all as f64).min(1.0) };
        DataView {
            file: file.to_owned(),
            name: self.name.clone(),
            phase,
            bytes: self.bytes,
            part: if goes_on { part } else { 1.0 },
            items: if goes_on { self.reading.items() } else { self.look.as_ref().map_or(0, |look| look.items) },
            look: self.look.as_ref().map(|look| look_view(look, &self.options, cx)),
            data: self.data.map(|data| data.to_string()),
            fault,
        }
    }
}

fn look_view(found: &Found, options: &Options, cx: &CallContext) -> DataLook {
    let row = |row: &campanile_sheets::FirstRow| DataRow { row: row.row, level: row.level, cells: row.cells.clone() };
    let fault = |fault: &campanile_sheets::RowFault| DataFault { row: fault.row, words: fault.words.clone() };
    let sizes = found.levels.iter().take(MOST_LEVELS_SHOWN);
    let can_stage = match found.faulty {
        0 => cx.may(Role::Operator),
        1 => Allowed::no(Words::new("a row is wrong", "有 1 行有误")),
        faulty => Allowed::no(Words::new(format!("{faulty} rows are wrong"), format!("有 {faulty} 行有误"))),
    };
    DataLook {
        kind: match found.kind {
            Kind::Separated => DataKind::Csv,
            Kind::Workbook => DataKind::Excel,
            Kind::Json => DataKind::Json,
        },
        encoding: found.encoding.clone(),
        delimiter: found.delimiter.map(String::from),
        sheets: found.sheets.clone(),
        sheet: found.sheet.clone(),
        columns: found.columns.clone(),
        level_column: options.level.clone(),
        first_rows: found.first.iter().map(row).collect(),
        items: found.items,
        levels: u32::try_from(found.levels.len()).unwrap_or(u32::MAX),
        level_sizes: sizes.map(|(level, items)| LevelSize { level: *level, items: *items }).collect(),
        largest_bytes: found.largest,
        faults: found.faults.iter().map(fault).collect(),
        faulty: found.faulty,
        sha256: found.sha256.clone(),
        can_stage,
    }
}

fn options_of(look: LookAtData) -> Result<Options, Fault> {
    let delimiter = match look.delimiter.as_deref() {
        None | Some("") => None,
        Some(text) => {
            let mut letters = text.chars();
            match (letters.next(), letters.next()) {
                (Some(letter), None) => Some(letter),
                _ => {
                    let reason = Words::new("the delimiter is one character", "分隔符应为一个字符");
                    return Err(Code::BadRequest.fault().with_words("reason", &reason).at("delimiter"));
                }
            }
        }
    };
    let some = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
    Ok(Options {
        kind: look.kind.map(|kind| match kind {
            DataKind::Csv => Kind::Separated,
            DataKind::Excel => Kind::Workbook,
            DataKind::Json => Kind::Json,
        }),
        encoding: some(look.encoding),
        delimiter,
        headerless: look.headerless,
        sheet: some(look.sheet),
        level: some(look.level_column),
    })
}

fn may_run(cx: &CallContext) -> Result<(), Fault> {
    if cx.who.role < Role::Operator { Err(Code::NoPermission.fault()) } else { Ok(()) }
}

fn unknown(file: &str) -> Fault {
    Code::DataFileUnknown.fault().with("file", file).at("file")
}
