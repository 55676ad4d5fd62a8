// Made from the Rust types by `make gen`; a test fails when it is stale. Not to be edited by hand.

export type AcknowledgeInput = { alarms: Array<string>, note: string, };

export type AcknowledgementView = { by: string, at: Moment, note: string, };

export type Address = { "kind": "mysql" } & Server | { "kind": "postgres" } & Server | { "kind": "sqlite", path: string, };

/**
 * What a copy or a wider window would do; saved with `save_job`, taken back with `restore_version`.
 */
export type AdjustView = { job: string, name: string, version: number, choice: RescheduleChoice, };

/**
 * When other jobs have ended.
 */
export type After = {
/**
 * Names of the upstream jobs.
 */
jobs: Array<string>, on: AfterOutcome, need: AfterNeed, };

export type AfterNeed = "any" | "all";

export type AfterOutcome = "success" | "failure" | "done";

export type AlarmPage = { rows: Array<AlarmRow>, next: number | null, };

export type AlarmRow = { id: string, rule: AlarmRule, severity: Severity, state: AlarmState, subject: string,
/**
 * The job it is about.
 */
job: string | null, message: Words, first: Moment, last: Moment, count: number, acknowledged: AcknowledgementView | null, resolved: Moment | null, can_acknowledge: Allowed, };

export type AlarmRule = "laneDepth" | "readyTimeout" | "pushTimeout" | "executorLost" | "overran" | "instanceFailed" | "firingMissed" | "systemFailure" | "storage" | "calendarEnds" | "promoted" | "starved" | "coordination";

export type AlarmState = "firing" | "acknowledged" | "resolved";

/**
 * Whether something may be done now, and if not, why.
 */
export type Allowed = { ok: boolean, why: Words | null, };

export type AnswerQuestions = { questions: Array<string>,
/**
 * True: one run stands for all that a question is about. False: they are skipped.
 */
run: boolean, };

export type Applied = { jobs: Array<AppliedJob>, };

export type AppliedChange = "created" | "changed" | "unchanged";

export type AppliedJob = { name: string, change: AppliedChange, };

export type ApplyInput = {
/**
 * YAML (several documents) or JSON.
 */
text: string, dry_run?: boolean, };

export type AskAway = {
/**
 * When the person last looked.
 */
since: Timestamp, };

/**
 * Planned times in [from, to); `to` is now where absent.
 */
export type AskBackfill = { job: string, from: Timestamp, to?: Timestamp | null, };

export type AskCalendar = {
/**
 * The first day, `2026-11-16`; the Monday of this week where absent.
 */
date?: string | null,
/**
 * 1 to 42; 7 where absent.
 */
days?: number | null,
/**
 * Only jobs whose name, tag or tenant has this.
 */
text?: string | null, };

/**
 * A copy of a run, at a wall-clock time in the zone of the call or at an instant.
 */
export type AskCopy = { job: string, to_local?: string | null, to?: Timestamp | null, };

export type AskExecutorLog = { group?: string, name: string,
/**
 * Rows, at most 1000; 300 where absent.
 */
limit?: number | null, };

export type AskPreview = {
/**
 * As much of a job as decides its times: the schedule, and what it has of policies; …
 */
spec?: Record<string, unknown> | null,
/**
 * … of this job, or alone, a job as it stands.
 */
job?: string | null, from?: Timestamp | null,
/**
 * 1 to 200; 20 where absent.
 */
count?: number | null, };

export type AskReschedule = { job: string, planned: Timestamp,
/**
 * Where it was dropped: a wall-clock time in the zone of the call, `2026-11-18T10:30`, …
 */
to_local?: string | null,
/**
 * … or an instant.
 */
to?: Timestamp | null, };

export type AskShardChanges = { instance: string, since: number, };

export type AskSpread = { job: string,
/**
 * How long after its time a run may start.
 */
seconds: number, };

/**
 * The id of a run or of a task; or a job, by name or id, and a time of it.
 */
export type AskWhy = { id?: string | null, job?: string | null,
/**
 * RFC 3339, epoch milliseconds, or a wall-clock time in the zone of the call: `2026-11-21T09:30`.
 */
at?: string | null, };

export type AuditPage = { rows: Array<AuditRow>, next: number | null, };

export type AuditRow = { at: Moment, who: string, action: string, subject: string, before: unknown, after: unknown, };

export type AwayRow = { job: string, name: string,
/**
 * Dropped, with nothing in their place.
 */
missed: number,
/**
 * Made good by a later run.
 */
folded: number,
/**
 * Left to a person.
 */
asked: number,
/**
 * By pause, overlap or exception.
 */
skipped: number, from: Moment, to: Moment, omissions: Array<OmissionRow>, can_run: Allowed, };

/**
 * What the policies did while nobody looked.
 */
export type AwayView = { since: Moment, missed: number, folded: number, skipped: number,
/**
 * One for each job that lost a firing, the one that lost most first.
 */
rows: Array<AwayRow>,
/**
 * What waits to be answered, whenever it was asked.
 */
questions: Array<QuestionRow>,
/**
 * False: there was more than could be looked through.
 */
complete: boolean, };

export type BackfillList = { rows: Array<BackfillRow>, };

export type BackfillPlan = { job: string, name: string, count: number, first: Moment | null, last: Moment | null,
/**
 * How it would go on.
 */
words: Words, allowed: Allowed, };

export type BackfillRow = { id: string, job: string, name: string, from: Moment, to: Moment, planned: number, made: number, state: BackfillState, asked_by: string, asked_at: Moment, ended_at: Moment | null, can_cancel: Allowed, };

export type BackfillState = "running" | "done" | "cancelled";

/**
 * A window of the workspace. With neither tags, tenants nor jobs it is for everything.
 */
export type Blackout = { window: Window, reason?: string, tags?: Array<string>, tenants?: Array<string>, jobs?: Array<string>, };

/**
 * What a window would hold back in the next 31 days.
 */
export type BlackoutEffect = { words: Words, windows: Array<BlackoutSpan>, rows: Array<EffectRow>,
/**
 * False: more jobs are held back than are listed.
 */
complete: boolean, };

export type BlackoutList = {
/**
 * By name.
 */
rows: Array<BlackoutRow>, };

export type BlackoutRow = { name: string, blackout: Blackout, words: Words,
/**
 * The window of now, or the next one.
 */
next: BlackoutSpan | null, can_edit: Allowed, };

/**
 * One time that a window lasts.
 */
export type BlackoutSpan = { name: string, from: Moment, until: Moment,
/**
 * It is for all jobs there are.
 */
everything: boolean, };

export type Bootstrap = { now: Timestamp, version: string, zone_data: string,
/**
 * `local`, or a team's name.
 */
connection: string, data_folder: string, person: Person,
/**
 * The zone of this machine.
 */
zone: string, zones: Array<string>, processors: Array<ProcessorView>,
/**
 * What `set_setting` has stored: `language`, `theme`, `clock`, …
 */
settings: Record<string, unknown>,
/**
 * What holds now; set by `set_setting` as `retention`.
 */
retention: Retention,
/**
 * Nobody has created a job yet.
 */
first_run: boolean, };

export type CalendarBand = {
/**
 * Index into `jobs`.
 */
job: number, version: number, day: number, from_minute: number, to_minute: number, count: number, };

export type CalendarDate = string;

export type CalendarDay = {
/**
 * `2026-11-16`
 */
date: string,
/**
 * 1 (Monday) to 7.
 */
weekday: number, start: Timestamp, end: Timestamp, today: boolean,
/**
 * The clocks change on this day: what a person should know of it.
 */
clock_change: Words | null,
/**
 * Blackout windows that touch the day.
 */
blackouts: Array<BlackoutSpan>,
/**
 * Firings that are in `load` and neither entries nor in a band, because there are too many.
 */
unlisted: number, };

/**
 * What a change of a calendar comes to. Nothing is written.
 */
export type CalendarDraft = {
/**
 * As it would be put. None: see `faults`.
 */
calendar: WorkCalendar | null,
/**
 * It is not there yet.
 */
new: boolean,
/**
 * What keeps it from being saved: of a file each with its line.
 */
faults: Array<Fault>,
/**
 * Days that were read from the file, and entries that are neither days off nor working days.
 */
read: number, passed_over: number,
/**
 * Days that are worked before and not after, or the other way.
 */
days: Array<DayChange>,
/**
 * Days that change beyond those that are listed.
 */
more_days: number, jobs: Array<JobTimesChange>, more_jobs: number, };

export type CalendarEntry = {
/**
 * Index into `jobs`.
 */
job: number, version: number,
/**
 * What identifies the occurrence; absent for runs by hand.
 */
planned: Timestamp | null, due: Moment,
/**
 * Index into `days`, and wall-clock minutes since midnight.
 */
day: number, minute: number,
/**
 * Past ones have an instance and a state.
 */
instance: string | null, state: InstanceState | null, origin: Origin,
/**
 * Index into `notes`: why it is where it is.
 */
reason: number | null,
/**
 * Index into `notes`: why it cannot be moved; absent where it can.
 */
fixed: number | null, };

/**
 * A file to be read into a layer of a calendar, in place of what that layer has for the same years.
 */
export type CalendarFile = {
/**
 * The calendar; one that is not there is made.
 */
calendar: string,
/**
 * `country` where absent.
 */
layer?: string | null,
/**
 * By the file's name, or by how it begins, where absent.
 */
kind?: FileKind | null, file_name?: string | null, text: string,
/**
 * The years for which the file says all; those that it tells of where absent.
 */
years?: Array<number> | null, seen_revision?: number | null, };

/**
 * A job of which there is an entry or a band.
 */
export type CalendarJob = { id: string, name: string, words: Words,
/**
 * For a colour that stays with the job: 0 to 11.
 */
hue: number, };

export type CalendarSaved = { changed: number, revision: number, jobs: Array<JobTimesChange>, more_jobs: number, };

/**
 * What entries and bands share is told once: of a job in `jobs`, of an entry in `notes`.
 */
export type CalendarView = { now: Timestamp, zone: string, days: Array<CalendarDay>, jobs: Array<CalendarJob>,
/**
 * Earliest first.
 */
entries: Array<CalendarEntry>,
/**
 * Jobs too frequent to be drawn one by one.
 */
bands: Array<CalendarBand>,
/**
 * Firings in each quarter of an hour of each day, in the order of the days.
 */
load: Array<Array<number>>, notes: Array<Words>, };

/**
 * One moment in the chain from planned to finished. Without `at`: it has not come yet, and `words` says what it waits for.
 */
export type ChainLink = { step: ChainStep, at: Moment | null, words: Words, };

export type ChainStep = "planned" | "due" | "created" | "assigned" | "admitted" | "pushed" | "started" | "finished";

/**
 * The first times that a job had and has no more, and those that it has now.
 */
export type ChangedTimes = { job: string, name: string, time_zone: string, before: Array<Moment>, after: Array<Moment>, };

export type CheckJob = { spec: unknown,
/**
 * The job that is being edited.
 */
job?: string | null, };

/**
 * Two versions of a job, or one of them and what is about to be saved.
 */
export type CompareVersions = { job: string, from: number,
/**
 * The present version where neither this nor `spec` is given.
 */
to?: number | null, spec?: unknown, };

/**
 * A run beside the last one of its job that succeeded before it.
 */
export type ComparisonView = {
/**
 * None: no run of the job has succeeded before.
 */
good: InstanceRow | null, differences: Array<Difference>, };

export type ConnectionList = { rows: Array<ConnectionView>,
/**
 * What would hold a password that is given now.
 */
keeper: Keeper, can_add: Allowed, };

/**
 * One of the two is there.
 */
export type ConnectionTest = {
/**
 * What the database says it is: `MySQL 8.4.2`.
 */
server: string | null,
/**
 * What is in the way.
 */
fault: Fault | null, };

export type ConnectionView = { name: string,
/**
 * `mysql`, `postgres`, `sqlite`.
 */
kind: string,
/**
 * None of one that the executor's configuration defines: its address may hold a password.
 */
address: Address | null,
/**
 * What holds its password, where it has one.
 */
password: Keeper | null, can_change: Allowed, };

export type Cron = { expression: string,
/**
 * Absent: five fields and `@daily` and its kin are `unix`, seven are `quartz`.
 */
dialect?: Dialect, timeZone: string, dstGap: DstGap, dstOverlap: DstOverlap, };

export type CrontabInput = { text: string,
/**
 * Of the lines' times; this machine's where absent.
 */
zone?: string | null,
/**
 * Lines to take; all that can be where absent.
 */
lines?: Array<number> | null, };

export type CrontabLine = {
/**
 * Counts from 1.
 */
number: number, text: string, outcome: CrontabOutcome, };

export type CrontabOutcome = { "is": "job", name: string, words: Words, command: string, next: Moment | null, } | { "is": "blank" } | { "is": "environment" } | { "is": "refused", fault: Fault, };

export type CrontabReading = { lines: Array<CrontabLine>, jobs: number, refused: number, };

export type DataFault = { row: number, words: Words, };

export type DataKind = "csv" | "excel" | "json";

export type DataLook = { kind: DataKind, encoding: string | null, delimiter: string | null,
/**
 * All of a workbook, and the one that was read.
 */
sheets: Array<string>, sheet: string | null,
/**
 * Of a table; of JSON, the fields of the first item. Nothing where items are no objects.
 */
columns: Array<string>, levelColumn: string | null,
/**
 * At most twenty.
 */
firstRows: Array<DataRow>, items: number, levels: number,
/**
 * The first hundred, in order.
 */
levelSizes: Array<LevelSize>, largestBytes: number,
/**
 * The first twenty rows that are wrong, and how many there are. With any of them nothing can be started.
 */
faults: Array<DataFault>, faulty: number, sha256: string, canStage: Allowed, };

export type DataPhase = "given" | "looking" | "looked" | "staging" | "staged" | "failed";

export type DataRow = {
/**
 * As a spreadsheet counts; of JSON the number of the item, or its line.
 */
row: number, level: number,
/**
 * By column; the item as JSON where there are none. Cut where long.
 */
cells: Array<string>, };

/**
 * How far a file has come.
 */
export type DataView = { file: string, name: string, phase: DataPhase, bytes: number,
/**
 * Of the reading that is under way, from 0 to 1.
 */
part: number,
/**
 * So far, or all of them.
 */
items: number,
/**
 * What the last look found.
 */
look: DataLook | null,
/**
 * What `run_jobs` takes as `data`, once it is staged.
 */
data: string | null, fault: Fault | null, };

export type DayChange = { date: CalendarDate,
/**
 * None: it is not known.
 */
workedBefore: boolean | null, workedAfter: boolean | null, whyBefore: Words, whyAfter: Words, };

export type DayKind = "off" | "work";

export type DayMark = { kind: DayKind, name: Words | null,
/**
 * The calendar and the layer that say so.
 */
calendar: string, layer: string, };

export type Dialect = "unix" | "seconds" | "quartz";

export type Difference = { what: Words,
/**
 * Of the run that went well (empty: it had none) …
 */
good: string,
/**
 * … and of this one.
 */
here: string, same: boolean, };

export type Document = { text: string, };

/**
 * What there is now because of what was asked.
 */
export type DoneView = { jobs: Array<string>, instances: Array<string>, changed: number,
/**
 * Of a single job that was saved: its version now.
 */
version: number | null, };

/**
 * Why an executor is to take nothing new, and who said so. It holds for every life under that name until it is lifted.
 */
export type Drain = { by: string, reason: string, since: Timestamp, };

export type DrainInput = { group?: string, name: string, reason: string, };

/**
 * What becomes of a wall-clock time that the clocks skip.
 */
export type DstGap = "shift" | "nextValid" | "skip";

/**
 * Which of the two it is when the clocks show a time twice.
 */
export type DstOverlap = "first" | "second" | "both";

export type EffectRow = { job: string, name: string,
/**
 * At most 1,000 are counted.
 */
count: number, first: Moment,
/**
 * What becomes of them.
 */
words: Words, };

/**
 * One occurrence, changed by hand.
 */
export type Exception = { "change": "skip", planned: Timestamp, } | { "change": "moveTo", planned: Timestamp, at: Timestamp, } | { "change": "added", at: Timestamp, };

export type ExecutorList = { now: Timestamp, rows: Array<ExecutorRow>,
/**
 * Whether all is well, in a sentence.
 */
verdict: Words, };

/**
 * What an executor was given and what its tasks wrote, the latest of it, in the order of time.
 */
export type ExecutorLog = { rows: Array<ExecutorLogRow>,
/**
 * There was more, or there were earlier tasks.
 */
is_cut: boolean, };

export type ExecutorLogRow = { at: Timestamp,
/**
 * `09:30:00.120`
 */
time: string, task: string, instance: string, job_name: string, part: Part | null, attempt: number, said: ExecutorSaid, };

/**
 * An executor as the engine knows it: a name within its group, and which of its lives.
 */
export type ExecutorRef = { group: string, name: string,
/**
 * A new one at every start: an executor that restarts is another owner.
 */
boot: string, };

export type ExecutorRow = { group: string, name: string, boot: string, state: ExecutorState,
/**
 * What a hand is needed for, or what is out of the ordinary.
 */
remarks: Array<Words>, embedded: boolean, processors: Array<HostedProcessor>, labels: { [key in string]: string }, capacity: number, queue: number, in_hand: number, running: number,
/**
 * By what ended of late; none where that was too little to tell.
 */
suggested_capacity: number | null, ended: number, mean_ms: number | null, version: string, node: string, since: Moment, heard: Moment, gone: Moment | null, machine: MachineReading | null, disregarded: number, takes_secrets: boolean, drain: Drain | null,
/**
 * What it has in hand, oldest first, at most fifty.
 */
runs: Array<ExecutorTask>, can_drain: Allowed, can_resume: Allowed, };

export type ExecutorSaid = { "kind": "line",
/**
 * `stdout`, `stderr` or `log`.
 */
stream: string, text: string, } | { "kind": "step", to: TaskState, reason: Words | null, };

export type ExecutorState = "live" | "draining" | "silent" | "gone";

export type ExecutorTask = { task: string, instance: string, job: string, job_name: string, processor: string,
/**
 * Which part it is of a run that is cut into shards.
 */
part: Part | null, state: TaskState, attempt: number, since: Moment | null, };

export type ExportCalendar = { calendar: string, kind: FileKind,
/**
 * All years that have marked days where absent.
 */
years?: Array<number> | null, };

/**
 * Why an attempt did not succeed.
 */
export type Failure = { class: FailureClass,
/**
 * A stable code of ours or of the processor's.
 */
code: string, message: Words, };

/**
 * What kind of trouble a failure was: it decides whether trying again makes sense.
 */
export type FailureClass = "transient" | "business" | "system";

/**
 * What a job says of a failure by its message.
 */
export type FailureRule = {
/**
 * Part of the code or the message; between slashes (`/exit code (75|111)$/`) a regular expression.
 */
match: string, class: FailureClass, };

/**
 * A refusal, as the person asking should see it. `code` is what a client may branch on.
 */
export type Fault = { code: string, message: Words, hint: Words | null,
/**
 * The input that it is about, as a path into what was sent: `schedule.expression`.
 */
field: string | null,
/**
 * The characters of that input that are meant, from and up to; the whole of it where absent.
 */
span?: [number, number], };

export type FieldChange = {
/**
 * Such as `misfire.policy`.
 */
field: string, name: Words,
/**
 * None: it was not set.
 */
before: Words | null,
/**
 * None: it is set no more.
 */
after: Words | null, };

export type FileKind = "ics" | "csv";

/**
 * The period after the last instance became final, however it ended.
 */
export type FixedDelay = { everySeconds: number,
/**
 * Absent: the first run is on saving.
 */
startTime?: Timestamp, };

/**
 * `start_time` + k × period in elapsed time, whatever the runs do.
 */
export type FixedRate = { everySeconds: number,
/**
 * Absent: the moment the job was saved. `Schedule::anchored` writes that moment down, so
 * that a later edit keeps the phase.
 */
startTime?: Timestamp, };

/**
 * One message of the live feed. Numbers follow one another; after a gap comes a snapshot, and all is stale.
 */
export type Frame = { seq: number, kind: FrameKind,
/**
 * Topics of which queries are stale: `jobs`, `instances`, `tasks`, `alarms`, `settings`, `audit`, `executors`,
 * `log:<task id>`.
 */
stale: Array<string>, status: Status, };

export type FrameKind = "snapshot" | "delta";

/**
 * A file that was handed in, to be looked at. It is known by this name of ours to whoever handed it in.
 */
export type GivenFile = { file: string,
/**
 * As people call it.
 */
name: string, bytes: number, };

export type HeldKind = "hold" | "absence" | "busy" | "machine" | "limit";

export type HeldList = {
/**
 * False: another program drives the engine, and only it knows.
 */
known: boolean,
/**
 * What holds most first.
 */
rows: Array<HeldRow>, };

/**
 * One reason why ready tasks do not go.
 */
export type HeldRow = { kind: HeldKind, words: Words, since: Moment,
/**
 * As they were last counted, which is once a second; 0 for a level that waits, of which there are no tasks yet.
 */
tasks: number,
/**
 * The job whose own limit it is.
 */
job: string | null, };

export type HistoryRow = { at: Moment, from: TaskState, to: TaskState, attempt: number, executor: string | null, node: string, reason: Words | null, };

/**
 * Nothing is dispatched while there is one.
 */
export type Hold = { by: string, reason: string, since: Timestamp, };

export type HoldInput = { reason: string, };

export type HostedProcessor = { name: string, title: Words, };

export type ImportZones = {
/**
 * Of the machine of the node: compiled zones with their `tzdata.zi`.
 */
folder: string,
/**
 * Only says what would change.
 */
dry_run: boolean, };

export type InstanceDetail = { row: InstanceRow, words: Words, mode: Mode, overlap: Overlap, group: string, processor: string,
/**
 * As the tasks get them.
 */
parameters: Record<string, unknown>, reason: Words | null, asked_by: string | null, repeats: string | null,
/**
 * The runs whose end brought it about.
 */
upstream: Array<UpstreamRun>, result: unknown,
/**
 * Why it failed, where none of its tasks says so.
 */
failure: Failure | null,
/**
 * Why it ran when it ran, step by step.
 */
chain: Array<ChainLink>,
/**
 * Of one that is cut into shards, what is not a shard.
 */
tasks: Array<TaskRow>, };

export type InstancePage = { rows: Array<InstanceRow>, next: number | null, };

export type InstanceRow = { id: string, job: string, job_name: string, version: number, origin: Origin, state: InstanceState, planned: Moment, due: Moment, started: Moment | null, finished: Moment | null,
/**
 * Started after due.
 */
late_ms: number | null, took_ms: number | null,
/**
 * Of one that is cut into shards none are named.
 */
tasks: Array<TaskBrief>, sharding: ShardProgress | null, can_cancel: Allowed, can_retry: Allowed, };

export type InstanceState = "waiting" | "running" | "succeeded" | "failed" | "cancelled" | "superseded";

/**
 * What a job says of windows: the name of one of the workspace's, or one of its own.
 */
export type JobBlackout = string | Window;

export type JobCheck = {
/**
 * Empty: it can be saved.
 */
faults: Array<Fault>, preview: PreviewView | null,
/**
 * Changes made by hand to runs that would not be planned any more.
 */
lapsed: Array<LapsedException>, };

export type JobDetail = { row: JobRow, spec: JobSpec, saved_at: Moment, preview: PreviewView | null,
/**
 * Names of the jobs that it runs after, and of those that run after it.
 */
upstream: Array<string>, downstream: Array<string>,
/**
 * Newest first.
 */
versions: Array<VersionRow>, omissions: Array<OmissionRow>, };

export type JobPage = { rows: Array<JobRow>, next: number | null,
/**
 * How many match; counted up to 10,000.
 */
total: number, };

export type JobRow = { id: string, name: string, description: string, version: number, words: Words, kind: string, paused: boolean, next: Moment | null, last: Array<LastOutcome>, group: string, processor: string, priority: Lane, tenant: string | null, tags: Array<string>, can_run: Allowed, };

/**
 * What `apply` reads and `export` writes. Every field but name, processor and schedule has a default.
 */
export type JobSpec = { apiVersion: string,
/**
 * Unique; what the CLI, the API, files and errors call it.
 */
name: string, description?: string, schedule: Schedule,
/**
 * Single occurrences that were skipped, moved or added.
 */
exceptions?: Array<Exception>, effectiveFrom?: Timestamp | null, effectiveUntil?: Timestamp | null,
/**
 * The working-day calendar; none is the workspace's: China's for zones of China, else Monday to Friday.
 */
calendar?: string | null, onNonWorkday?: OnNonWorkday,
/**
 * Names of the workspace's blackout windows, and windows of its own.
 */
blackouts?: Array<JobBlackout>, misfire: Misfire, overlap: Overlap,
/**
 * What becomes of the one that waits (`overlap: queue`) when a further one comes; without it the further one is
 * skipped.
 */
supersede?: Supersede | null, spreadSeconds: number, mode: Mode, route: Route,
/**
 * Only executors with all of these labels take it, whatever the route.
 */
labels?: { [key in string]: string },
/**
 * Route `consistentHash`: the parameter whose value decides who takes it.
 */
hashKey?: string | null,
/**
 * Mode `broadcast`: so many executors have to succeed; none: all of them.
 */
minSuccess?: number | null,
/**
 * Mode `sharding`: at most so many items in one shard (1000).
 */
shardMaxSize?: number | null,
/**
 * Mode `sharding`: no more shards than leave each so many items (1), unless `shardMaxSize` asks for more.
 */
shardMinSize?: number | null,
/**
 * Mode `sharding`: what becomes of the levels after one that failed (`stop`).
 */
onLevelFailure?: OnLevelFailure | null,
/**
 * Mode `sharding`: people's own code is told each time that progress has grown by so many percent (10).
 */
notifyStep?: number | null, executorGroup: string, processor: string, parameters: Record<string, unknown>, priority: Lane, tenant?: string | null, tags?: Array<string>, owner?: string | null, timeoutSeconds?: number | null, overrun: Overrun, retry: Retry,
/**
 * What a failure means by its message; the first rule that matches counts.
 */
failureRules?: Array<FailureRule>,
/**
 * At most so many of its tasks are with executors at once.
 */
maxConcurrent?: number | null,
/**
 * It works the disk: it waits while the executor's disk is behind.
 */
io?: boolean,
/**
 * Counted from its due time: what has not begun by then is no longer worth doing.
 */
expiresAfterSeconds?: number | null,
/**
 * Asked just before a run goes to an executor.
 */
stillNeeded?: StillNeeded | null, readyTimeoutSeconds: number, pushTimeoutSeconds: number, };

/**
 * Future times of a job that come to be others.
 */
export type JobTimesChange = { job: string, name: string, changes: Array<TimeChangeView>,
/**
 * Times that change beyond those that are listed.
 */
more: number, };

/**
 * What holds a password.
 */
export type Keeper = "keychain" | "file";

/**
 * Smaller goes first; first in, first out within one.
 */
export type Lane = "immediate" | "high" | "retry" | "normal" | "low";

export type LaneView = { lane: Lane, depth: number, oldest_wait_ms: number | null, };

/**
 * An exception that means nothing to the job as it would be saved.
 */
export type LapsedException = { exception: Exception, words: Words, };

export type LastOutcome = { instance: string, state: InstanceState, due: Timestamp, };

export type LedgerFindingView = { job: string, at: Moment | null, words: Words, };

/**
 * The ledger check of all jobs.
 */
export type LedgerView = { clean: boolean, jobs: number, spans: number, planned: number, made: number, not_made: number, findings: Array<LedgerFindingView>, };

/**
 * Levels that have items, in order, column by column.
 */
export type LevelColumns = { level: Array<number>, items: number[], state: Array<LevelState>,
/**
 * 0 while it has not started.
 */
shards: Array<number>,
/**
 * So many of them are tasks.
 */
made: Array<number>, started: Array<Timestamp | null>, ended: Array<Timestamp | null>,
/**
 * It could start, and nobody is there.
 */
waits_since: Array<Timestamp | null>,
/**
 * Where to go on.
 */
next: number | null, };

export type LevelSize = { level: number, items: number, };

export type LevelState = "waiting" | "running" | "succeeded" | "failed" | "cancelled";

export type LimitList = { rows: Array<LimitRow>,
/**
 * Groups that a limit can be set for; others may come.
 */
groups: Array<string>, can_change: Allowed, };

/**
 * What a bound is on.
 */
export type LimitOn = { "on": "node" } | { "on": "group", "name": string } | { "on": "tenant", "name": string };

export type LimitRow = { limit: LimitOn, most: number,
/**
 * Pushed, running or overrun now.
 */
in_use: number,
/**
 * Ready tasks that it holds back, as they were last counted.
 */
holds: number, };

export type ListAlarms = { states?: Array<AlarmState>, cursor?: number | null, limit?: number | null, };

export type ListAudit = { cursor?: number | null, limit?: number | null, };

export type ListBackfills = { job?: string | null, };

export type ListInstances = { job?: string | null, states?: Array<InstanceState>, task_states?: Array<TaskState>,
/**
 * With a task that this executor has, or had last.
 */
executor?: OfExecutor | null, due_from?: Timestamp | null, due_until?: Timestamp | null, cursor?: number | null, limit?: number | null, };

export type ListJobs = { text?: string | null, paused?: boolean | null, tag?: string | null, cursor?: number | null, limit?: number | null, };

export type ListLevels = { instance: string,
/**
 * No level below this one.
 */
from?: number | null, };

export type ListShards = { instance: string, cursor?: number | null, };

export type ListTasks = { states?: Array<TaskState>,
/**
 * That this executor has, or had last.
 */
executor?: OfExecutor | null, cursor?: number | null, limit?: number | null, };

export type LockList = { now: Timestamp,
/**
 * By name.
 */
rows: Array<LockView>,
/**
 * There are more than are written down.
 */
left_out: number,
/**
 * None: there is no place that all nodes of the team see, and none are given out.
 */
kept: LocksKept | null, };

/**
 * An attempt that holds or waits.
 */
export type LockParty = { group: string, executor: string, task: string, attempt: number,
/**
 * The run that the task is of, as long as it is kept.
 */
of: LockRun | null,
/**
 * Through which node.
 */
node: string, since: Moment,
/**
 * When the lease ends unless it is renewed, or the patience of one that waits.
 */
until: Moment, };

export type LockRun = { instance: string, job_name: string,
/**
 * Which part it is of a run that is cut into shards.
 */
part: Part | null, };

export type LockView = { lock: string,
/**
 * None: it is waited for, and whoever has it is not known here.
 */
holder: LockParty | null,
/**
 * The fencing token of the holding.
 */
token: number | null,
/**
 * How often the holder has entered it.
 */
count: number,
/**
 * It is kept alive until it is left; else it ends at `until`.
 */
watched: boolean,
/**
 * Who has waited longest comes first.
 */
waiters: Array<LockParty>, };

/**
 * Where it is known who holds what: what a lock is worth hangs on it.
 */
export type LocksKept = "process" | "redis" | "majority";

export type LogHit = {
/**
 * Where the line begins, as `read_log` counts.
 */
offset: number, before: Array<LogLineView>, line: LogLineView, after: Array<LogLineView>, };

export type LogHits = { attempt: number, hits: Array<LogHit>,
/**
 * Where to search on; none: the end was reached.
 */
next: number | null, searched_bytes: number, };

export type LogLineView = { at: Timestamp,
/**
 * `09:30:00.120`
 */
time: string,
/**
 * `stdout`, `stderr` or `log`.
 */
stream: string, text: string, };

export type LogView = { task: string, attempt: number, attempts: Array<number>, lines: Array<LogLineView>, next: number,
/**
 * Nothing more is there now …
 */
at_end: boolean,
/**
 * … and nothing more will come.
 */
closed: boolean, };

/**
 * How a file is to be read; what is absent is found.
 */
export type LookAtData = { file: string, kind?: DataKind | null,
/**
 * `utf-8`, `gbk`, `utf-16le` and so on.
 */
encoding?: string | null,
/**
 * Between the cells of a CSV: one character.
 */
delimiter?: string | null,
/**
 * The first row is an item like the others; columns are called A, B, C and so on.
 */
headerless?: boolean,
/**
 * Of a workbook; the first one where absent.
 */
sheet?: string | null,
/**
 * The column, or the field of JSON items, with the level as a whole number. Without it all items are of one level.
 */
levelColumn?: string | null, };

/**
 * What an executor said of the machine it runs on; a missing one is unknown, not zero.
 */
export type MachineReading = { cpu_percent: number | null, memory_percent: number | null, disk_queue: number | null, cores: number | null, };

export type MakeToken = {
/**
 * `executor:GROUP`, or `run:JOB` where the name may have stars.
 */
scope: string,
/**
 * For whom it is.
 */
note?: string, };

export type MarkedDay = { date: CalendarDate, kind: DayKind, name?: Words, };

/**
 * What becomes of a firing that is late.
 */
export type Misfire = { policy: MisfirePolicy,
/**
 * Later than this is late; so is later than the job's next due time, whichever is earlier.
 */
graceSeconds: number,
/**
 * The most that `catchUp` makes good.
 */
max: number, };

export type MisfirePolicy = "skip" | "fireOnce" | "catchUp" | "ask";

export type Mode = "unicast" | "broadcast" | "sharding";

/**
 * An instant, and how its wall clock reads in the zone of the call.
 */
export type Moment = { ms: Timestamp,
/**
 * `2026-11-21 09:30:00`
 */
text: string,
/**
 * `+08:00`
 */
offset: string, };

export type NodeDuty = "clerk" | "monitor" | "alerter" | "sweeper";

export type NodeList = { now: Timestamp,
/**
 * Those that are there before those that have gone, by name. None on a data folder: one program drives it alone.
 */
rows: Array<NodeRow>, };

export type NodeRow = {
/**
 * Of one life.
 */
node: string,
/**
 * What people call it.
 */
name: string,
/**
 * It was seen within its lease.
 */
live: boolean, version: string,
/**
 * Where executors reach it; empty: they do not.
 */
executors_at: string,
/**
 * Where consoles reach it; empty: they do not.
 */
console_at: string,
/**
 * How far its machine's clock is from the database's.
 */
offset_ms: number,
/**
 * So many of the launch partitions are with it, of so many.
 */
partitions: number, partitions_of: number,
/**
 * What it does for the whole team.
 */
duties: Array<NodeDuty>, since: Moment, seen: Moment, };

export type NodeState = "leading" | "standby" | "leaderless";

export type Nothing = Record<symbol, never>;

export type OfBackfill = { backfill: string, };

export type OfBlackout = { name: string, };

/**
 * A calendar by its name.
 */
export type OfCalendar = { calendar: string,
/**
 * The year that is shown; that of now where absent.
 */
year?: number | null,
/**
 * Of a change: the revision that the person had before them.
 */
seen_revision?: number | null, };

export type OfConnection = { name: string, };

export type OfExecutor = {
/**
 * The group; `local` where absent.
 */
group?: string, name: string, };

export type OfFile = { file: string, };

export type OfInstance = { instance: string, };

/**
 * A job by its id or by its name.
 */
export type OfJob = { job: string, };

export type OfJobs = { jobs: Array<string>, };

export type OfSecret = { group?: string, name: string, };

export type OfShard = { instance: string, level: number, shard: number, };

/**
 * A run, or of one that is cut into shards these alone.
 */
export type OfShards = { instance: string, shards?: Array<ShardRange> | null, };

export type OfToken = { id: string, };

/**
 * Why a firing did not happen.
 */
export type OmissionReason = "paused" | "overlap" | "exception" | "nonWorkday" | "merged" | "noCalendarData" | "misfire" | "folded" | "beyondCatchUp" | "asked" | "blackout";

export type OmissionRow = { job: string, name: string, from: Moment, to: Moment, count: number, reason: OmissionReason, missed: boolean, words: Words, };

/**
 * What becomes of the levels after one that failed.
 */
export type OnLevelFailure = "stop" | "continue";

/**
 * What happens to a run on a day on which nobody works.
 */
export type OnNonWorkday = "run" | "skip" | "nextWorkday" | "previousWorkday";

export type Once = { at: Timestamp, };

/**
 * What brought an instance about. With the job and the key it is the firing's identity.
 */
export type Origin = "schedule" | "added" | "manual" | "api" | "backfill" | "after";

export type OutcomesView = { succeeded: number, failed: number,
/**
 * Succeeded ÷ (succeeded + failed); none where nothing ended.
 */
rate: number | null, };

/**
 * What happens while an instance of the job has a task that is not final.
 */
export type Overlap = "allow" | "skip" | "queue" | "replace";

/**
 * What happens when a task still runs past its timeout.
 */
export type Overrun = "note" | "kill";

/**
 * A task without one is all of its run.
 */
export type Part = { "is": "preProcess", level: number, next: number, whole: boolean, } | { "is": "shard", level: number, index: number, count: number, round: number, items: number, done: number, } | { "is": "notify", done: number, total: number, } | { "is": "postProcess", round: number, };

export type Person = { name: string, role: Role, };

export type Phase = "loading" | "preProcess" | "levels" | "postProcess" | "reopening" | "over";

/**
 * What is done once for a run, or now and then: `pre_process`, a call of `notify`, `post_process`.
 */
export type PhaseTask = { task: string, state: TaskState, attempt: number,
/**
 * Of a notice: the progress that it told.
 */
told: Tally | null, due: Moment, started: Moment | null, finished: Moment | null, executor: string | null, failure: Failure | null, };

/**
 * Every place that this console knows.
 */
export type PlacesView = {
/**
 * The team that is looked at; none: this machine.
 */
current: string | null,
/**
 * The node of that team that answered last, or is asked next; none while it is not looked at through a node.
 */
node: string | null,
/**
 * Why the team's database is read instead of asking a node; none: it is not.
 */
reads_database: Fault | null,
/**
 * Where a token that is given now would lie.
 */
keeper: Keeper, rows: Array<TeamView>, };

export type PreviewRow = { planned: Timestamp, due: Moment,
/**
 * RFC 3339 in the schedule's own zone.
 */
local: string, reason: Words | null, };

export type PreviewView = { words: Words, runs: Array<PreviewRow>, warnings: Array<Words>, };

export type ProcessorView = { group: string, name: string, title: Words, description: Words,
/**
 * JSON Schema of its parameters; titles and descriptions in Chinese stand under `title:zh` and `description:zh`.
 */
schema: unknown,
/**
 * Executors that have it now.
 */
executors: number, };

export type Pulse = { now: Timestamp,
/**
 * Sixty minutes from the start of the present one.
 */
next_hour: Array<StripMinute>,
/**
 * The next runs, at most eight.
 */
upcoming: Array<Upcoming>, running: Array<InstanceRow>,
/**
 * What is cut into shards and in progress, oldest first; at most twenty. `running` leaves it out.
 */
sharded: Array<InstanceRow>,
/**
 * The last hour.
 */
outcomes: OutcomesView, alarms: Array<AlarmRow>,
/**
 * What did not fire in the last day.
 */
omissions: Array<OmissionRow>,
/**
 * Up to 10,000 are counted.
 */
jobs: number, };

export type PutBlackout = { name: string, blackout: Blackout, };

export type PutCalendar = { calendar: WorkCalendar, seen_revision?: number | null, };

export type PutConnection = { name: string, address: Address,
/**
 * Absent: the one that is kept stays. Empty: none.
 */
password?: Secret | null,
/**
 * It is refused where there is one of that name.
 */
new?: boolean, };

export type PutLimit = { limit: LimitOn,
/**
 * Nothing: no limit.
 */
most?: number | null, };

export type PutSecret = { group?: string, name: string, value: Secret,
/**
 * The group's public key in hexadecimal; that of its executors where absent.
 */
key?: string | null, };

export type PutTeam = {
/**
 * None: a new one.
 */
id?: string | null, name: string, colour: TeamColour,
/**
 * None where a database is given.
 */
nodes: Array<PutTeamNode>,
/**
 * Where what nodes there are is read; none: the nodes are given.
 */
database?: PutTeamDatabase | null, };

export type PutTeamDatabase = {
/**
 * `mysql://user@host:3306/database`, with or without the password.
 */
address: string,
/**
 * None: the one in the address, else the one that is kept.
 */
password?: Secret | null, };

export type PutTeamNode = {
/**
 * As `campanile serve` prints it, with or without its token.
 */
address: string,
/**
 * None: the one in the address, else the one that is kept.
 */
token?: Secret | null, };

export type QuestionList = { rows: Array<QuestionRow>, };

/**
 * Firings that were missed and are run only if a person says so (`misfire: ask`).
 */
export type QuestionRow = { id: string, job: string, name: string,
/**
 * Planned time of the first and of the last of them.
 */
from: Moment, to: Moment, count: number, asked_at: Moment,
/**
 * Without an answer by then they are skipped.
 */
until: Moment, words: Words, can_answer: Allowed, };

export type ReadLog = { task: string,
/**
 * The last one where absent.
 */
attempt?: number | null,
/**
 * Where to go on, as an earlier answer said; the beginning where absent. Negative: that many bytes from the end.
 */
from?: number | null,
/**
 * Lines, at most 5000; 1000 where absent.
 */
limit?: number | null, };

export type Repeat = {
/**
 * The first run, and the time of day of all others.
 */
startTime: Timestamp, timeZone: string, repeatLevel: RepeatLevel,
/**
 * Counted from the period that holds `start_time`.
 */
repeatInterval: number,
/**
 * For `week` 1 (Monday) to 7; for `month` 1 to 31, and -1 to -31 from the month's end.
 * Empty means the day of `start_time`.
 */
repeatDays?: Array<number>,
/**
 * No planned time is later than this; one at it counts.
 */
endTime?: Timestamp,
/**
 * No more planned times than this, counted from the first.
 */
count?: number, dstGap: DstGap, dstOverlap: DstOverlap, };

export type RepeatLevel = "hour" | "day" | "week" | "month" | "year" | "workday";

export type RescheduleChoice = { scope: Scope, allowed: Allowed,
/**
 * The schedule in words, as it would be.
 */
words: Words | null, before: Array<Moment>, after: Array<Moment>,
/**
 * Other jobs due within a minute of the new time.
 */
collisions: Array<string>, spec: JobSpec | null, };

/**
 * What a drop would do, for each of the three scopes; saved with `save_job`, taken back with `restore_version`.
 */
export type RescheduleView = { job: string, name: string, version: number, from: Moment, to: Moment, choices: Array<RescheduleChoice>, };

export type RestoreVersion = { job: string, version: number, seen_version?: number | null, };

/**
 * Of two bounds on the same thing the one that is reached first counts. What is not written has its default.
 */
export type Retention = {
/**
 * Days that instances are kept after their end, with their tasks.
 */
instanceDays: number,
/**
 * Instances that are kept of one job.
 */
instancesPerJob: number,
/**
 * Days that logs are kept after they were last written.
 */
logDays: number,
/**
 * Gigabytes (10⁹ bytes) that all logs take together.
 */
logGigabytes: number,
/**
 * Days that alarms are kept after they were resolved.
 */
alarmDays: number, };

/**
 * How often and how late an attempt that failed is made again.
 */
export type Retry = {
/**
 * Attempts after the first.
 */
retries: number, baseSeconds: number, maxSeconds: number, multiplier: number, };

export type Role = "viewer" | "operator" | "editor" | "admin";

export type Route = "roundRobin" | "random" | "leastLoaded" | "consistentHash" | "sticky" | "label";

export type RunJobsInput = { jobs: Array<string>, parameters?: Record<string, unknown> | null,
/**
 * Does not wait for instances that are still there.
 */
beside?: boolean,
/**
 * The only executor that may run it, by its name in the job's group.
 */
executor?: string | null,
/**
 * Of a single job that is cut into shards: data that was staged for it.
 */
data?: string | null, };

export type SaveJobInput = { spec: unknown, job?: string | null, seen_version?: number | null, };

export type Schedule = { "kind": "repeat" } & Repeat | { "kind": "cron" } & Cron | { "kind": "fixedRate" } & FixedRate | { "kind": "fixedDelay" } & FixedDelay | { "kind": "once" } & Once | { "kind": "after" } & After | { "kind": "manual" };

export type Scope = "thisRun" | "following" | "all";

export type SearchLog = { task: string,
/**
 * The last one where absent.
 */
attempt?: number | null, text: string,
/**
 * Capital letters are letters of their own.
 */
exact?: boolean,
/**
 * Where an earlier answer ended.
 */
from?: number,
/**
 * At most 500; 100 where absent.
 */
limit?: number | null, };

/**
 * A password on its way; it is not shown where it is printed.
 */
export type Secret = string;

export type SecretList = { rows: Array<SecretRow>,
/**
 * Groups that a secret can be set for now.
 */
groups: Array<string>, can_add: Allowed, };

/**
 * Of a secret there is everything but its value.
 */
export type SecretRow = { group: string, name: string, by: string, at: Moment,
/**
 * The beginning of the public key that it is sealed to.
 */
sealed_to: string,
/**
 * The group's executors have another key by now: tasks that name it are refused.
 */
stale: boolean, can_change: Allowed, };

export type Server = { host: string,
/**
 * The usual one of the kind where absent.
 */
port: number | null,
/**
 * The server's own choice where empty.
 */
database: string, user: string, };

export type SetInput = { key: string, value: unknown, };

export type Severity = "info" | "warning" | "critical" | "emergency";

export type ShardChanges = { shards: ShardColumns, seen: number,
/**
 * There is more: ask again.
 */
more: boolean,
/**
 * So much has happened since that all of it is read sooner than what has changed.
 */
anew: boolean, };

/**
 * Where shards stand, column by column. How many items each has follows from its level.
 */
export type ShardColumns = { level: Array<number>, shard: Array<number>, state: Array<TaskState>,
/**
 * Items of which the outcome was reported.
 */
done: number[], };

export type ShardPage = {
/**
 * In order.
 */
shards: ShardColumns, next: number | null,
/**
 * What changes from here on is told by `shard_changes` since this place.
 */
seen: number, };

/**
 * How far a run is that is cut into shards; beside its row wherever that is shown.
 */
export type ShardProgress = { phase: Phase,
/**
 * 1, and one more each time that failed shards are retried. Progress is that of the round.
 */
round: number, tally: Tally, levels: number, stopping: boolean, };

/**
 * Shards of a level that follow one another: from `from` up to but without `until`.
 */
export type ShardRange = { level: number, from: number, until: number, };

export type ShardView = { task: TaskRow,
/**
 * The last lines that its present attempt wrote, at most five.
 */
tail: Array<LogLineView>, };

/**
 * A run in progress, in a word.
 */
export type ShardedNow = { instance: string, phase: Phase, round: number, tally: Tally, };

export type ShardingView = { now: Timestamp, progress: ShardProgress,
/**
 * Since when the present round has been at its items.
 */
since: Timestamp | null, pre: PhaseTask | null,
/**
 * Of this round.
 */
notices: Array<PhaseTask>, post: PhaseTask | null,
/**
 * The first of them.
 */
levels: LevelColumns, };

/**
 * What the status bar and the top bar show; part of every frame of the feed.
 */
export type Status = { now: Timestamp, node: NodeState,
/**
 * Tasks that became final, a second, over the last ten.
 */
tasks_per_second: number, lanes: Array<LaneView>, running: number, last_event_at: Timestamp | null, hold: Hold | null, open_alarms: number, worst: Severity | null,
/**
 * Trouble of the node itself, such as a full disk.
 */
trouble: Fault | null,
/**
 * Runs in progress that are cut into shards, oldest first; at most twenty.
 */
sharded: Array<ShardedNow>, };

/**
 * Who knows whether a run is still worth doing. No answer in two seconds is yes.
 */
export type StillNeeded = { "ask": "processor" } | { "ask": "sql", connection: string, query: string, } | { "ask": "http", url: string, };

export type Stop = { cause: StopCause, stage: StopStage, asked_at: Timestamp,
/**
 * When the present stage was reached.
 */
stage_at: Timestamp, };

/**
 * Why a task is being stopped; it decides what the end is called.
 */
export type StopCause = "operator" | "replaced" | "overran" | "withdrawn";

/**
 * How far stopping has come.
 */
export type StopStage = "asked" | "acknowledged" | "terminated" | "killed";

export type StripMinute = { at: Moment, firings: number,
/**
 * At most five of the jobs that fire in it.
 */
jobs: Array<string>, };

export type Supersede = "latest";

/**
 * Items of a run, or of a part of it. What had no chance to run counts as done once that is settled, so that every run
 * comes to its whole.
 */
export type Tally = { done: number, total: number, };

export type TaskBrief = { id: string, state: TaskState, attempt: number, };

export type TaskPage = { rows: Array<TaskRow>, next: number | null, };

export type TaskRow = { id: string, instance: string, job: string, job_name: string,
/**
 * Which part it is of a run that is cut into shards; none: all of its run.
 */
part: Part | null, state: TaskState, attempt: number, attempts_most: number, lane: Lane,
/**
 * How often it has moved up a lane.
 */
promotions: number, group: string, processor: string, executor: ExecutorRef | null, due: Moment, ready: Moment | null, pushed: Moment | null, started: Moment | null, finished: Moment | null, failure: Failure | null, stop: Stop | null, idempotency_key: string, result: unknown,
/**
 * Oldest first; only where the task's instance was asked for.
 */
history: Array<HistoryRow>, };

/**
 * Where a task stands. The number is what people, logs and the protocol say.
 */
export type TaskState = number;

/**
 * By which a team is told from another, and from one's own machine, at a glance.
 */
export type TeamColour = "red" | "amber" | "violet" | "blue";

export type TeamDatabaseView = {
/**
 * Without the password.
 */
address: string,
/**
 * What holds the password of its account; none: it has none.
 */
password: Keeper | null, };

/**
 * What a node answered that was tried, or a database.
 */
export type TeamNodeTried = { address: string,
/**
 * None: it is no node, or there is a fault.
 */
version: string | null, fault: Fault | null, };

export type TeamNodeView = { address: string,
/**
 * What holds its token.
 */
token: Keeper, };

export type TeamView = { id: string, name: string, colour: TeamColour,
/**
 * None where it is known by its database.
 */
nodes: Array<TeamNodeView>, database: TeamDatabaseView | null, };

export type TestConnection = { name: string,
/**
 * Absent: as it is defined now, and as a job would get it.
 */
address?: Address | null,
/**
 * As for putting.
 */
password?: Secret | null, };

export type TimeChangeView = { planned: Moment,
/**
 * None: it does not come.
 */
before: Moment | null, after: Moment | null, };

/**
 * Milliseconds since the Unix epoch. Ordered, and small enough to be an index.
 */
export type Timestamp = number;

export type TokenList = { rows: Array<TokenView>, };

export type TokenMade = { id: string,
/**
 * Told here and never again.
 */
token: string, scope: string, };

export type TokenView = { id: string, scope: string, note: string, made_by: string, made_at: Moment, };

/**
 * What holds in a year for which there is no data.
 */
export type Uncovered = "weekly" | "hold";

export type Upcoming = { job: string, name: string, due: Moment, };

/**
 * A run whose end brought this one about.
 */
export type UpstreamRun = { instance: string, job: string, name: string, state: InstanceState, };

export type VersionDiff = { job: string, name: string, from: number,
/**
 * None: what is about to be saved.
 */
to: number | null,
/**
 * In the order of the job's fields; empty: nothing differs.
 */
changes: Array<FieldChange>, };

export type VersionRow = { version: number, saved_at: Moment, saved_by: string, words: Words, spec: JobSpec, };

/**
 * Nothing is silently stuck: what it waits for, since when, and the rule that ends the wait.
 */
export type WaitingView = { since: Moment, words: Words, ends: Words,
/**
 * When that rule acts, where it is a matter of time.
 */
ends_at: Moment | null, };

export type WhyLink = { step: WhyStep, at: Moment | null, words: Words, tone: WhyTone,
/**
 * The person, the executor or the node that did it.
 */
who: string | null, task: string | null, attempt: number | null, state: TaskState | null,
/**
 * After the link before it, where that was a while.
 */
after_ms: number | null, };

export type WhyStep = "planned" | "due" | "created" | "assigned" | "held" | "admitted" | "pushed" | "handedBack" | "started" | "overran" | "stopping" | "attemptEnded" | "retry" | "finished" | "notFired" | "promoted" | "remark";

export type WhyTone = "plain" | "good" | "bad" | "late" | "waits";

export type WhyView = {
/**
 * The whole of it in a sentence.
 */
verdict: Words, job: string, job_name: string, instance: string | null, state: InstanceState | null,
/**
 * Why it still waits now; nothing where it does not.
 */
waiting: WaitingView | null,
/**
 * In the order of time; what has not come yet last.
 */
links: Array<WhyLink>, };

/**
 * When it is: `from` and `until`, or `schedule` and `durationSeconds`.
 */
export type Window = { from?: Timestamp,
/**
 * The first moment at which things fire again.
 */
until?: Timestamp,
/**
 * When it begins, again and again …
 */
schedule?: Schedule,
/**
 * … and how long it lasts each time.
 */
durationSeconds?: number, };

export type Words = { en: string, zh: string, };

export type WorkCalendar = { apiVersion: string,
/**
 * Unique; what jobs, files and errors call it.
 */
name: string,
/**
 * What people call it, where that is more than its name.
 */
title?: Words,
/**
 * The calendar that it builds on; its own name means the one that the program carries under that name.
 */
base?: string,
/**
 * Working days of an ordinary week, 1 (Monday) to 7. Absent: the base's, else Monday to Friday.
 */
week?: Array<number>,
/**
 * Where its days begin and end, for schedules that are written in no zone. Absent: the base's, else UTC.
 */
timeZone?: string,
/**
 * Absent: the base's, else `weekly`.
 */
uncovered?: Uncovered,
/**
 * From the most general to the most particular: of two that mark a day the later counts.
 */
layers: Array<WorkCalendarLayer>,
/**
 * Counts what was saved under this name; written by the program.
 */
revision: number, savedAt?: Timestamp, savedBy?: string, };

export type WorkCalendarDay = { date: string,
/**
 * 1 is Monday.
 */
weekday: number,
/**
 * None: there is no data, and the calendar says to wait for it.
 */
works: boolean | null, why: Words,
/**
 * Where it is marked, and not as the week has it.
 */
mark: DayMark | null, };

export type WorkCalendarLayer = {
/**
 * Such as `country`, `company`, `team`.
 */
name: string,
/**
 * Where its days are from.
 */
source?: string,
/**
 * The years for which its days are all there are. A calendar in which no layer names years needs
 * no data: its week holds for ever.
 */
years?: Array<number>, days: Array<MarkedDay>, };

export type WorkCalendarList = { rows: Array<WorkCalendarRow>, };

export type WorkCalendarRow = { name: string, title: Words,
/**
 * As the program carries it: nobody has changed it.
 */
built_in: boolean,
/**
 * The program carries one of this name; what was changed of it can be taken back.
 */
carried: boolean, base: string | null, revision: number, saved_at: Moment | null, saved_by: string | null,
/**
 * Working days of an ordinary week, 1 (Monday) to 7.
 */
week: Array<number>, uncovered: Uncovered,
/**
 * Years that have data; none: it needs none.
 */
years: Array<number>,
/**
 * The last day that it has data for, counted from now without a break; none: no end is in sight.
 */
data_ends: string | null,
/**
 * That day is less than 30 days away.
 */
ends_soon: boolean,
/**
 * Jobs whose times depend on it.
 */
jobs: number,
/**
 * The version by which times planned with it are recorded.
 */
version: string, can_edit: Allowed, can_remove: Allowed, };

export type WorkCalendarView = { row: WorkCalendarRow,
/**
 * What was written of it, to be edited and put back.
 */
document: WorkCalendar, year: WorkCalendarYear,
/**
 * Names of jobs that depend on it, the first hundred.
 */
jobs: Array<string>, };

/**
 * A year at a glance.
 */
export type WorkCalendarYear = { year: number, covered: boolean,
/**
 * Working days of it, as far as they are known.
 */
working_days: number,
/**
 * Each day of it, in order.
 */
days: Array<WorkCalendarDay>, };

export type ZonesImported = { before: string, version: string,
/**
 * Jobs with times in the next months that are others now.
 */
changed: number,
/**
 * The first of them.
 */
jobs: Array<ChangedTimes>, };

/**
 * The zone data that times are planned by.
 */
export type ZonesView = {
/**
 * Such as `2026f`.
 */
version: string,
/**
 * What this program carries.
 */
bundled: string, zones: number, };

export interface Operations {
  bootstrap: { input: Nothing; output: Bootstrap };
  status: { input: Nothing; output: Status };
  pulse: { input: Nothing; output: Pulse };
  set_setting: { input: SetInput; output: DoneView };
  hold: { input: HoldInput; output: DoneView };
  release: { input: Nothing; output: DoneView };
  zones: { input: Nothing; output: ZonesView };
  import_zones: { input: ImportZones; output: ZonesImported };
  list_jobs: { input: ListJobs; output: JobPage };
  get_job: { input: OfJob; output: JobDetail };
  preview: { input: AskPreview; output: PreviewView };
  check_job: { input: CheckJob; output: JobCheck };
  save_job: { input: SaveJobInput; output: DoneView };
  remove_jobs: { input: OfJobs; output: DoneView };
  pause_jobs: { input: OfJobs; output: DoneView };
  resume_jobs: { input: OfJobs; output: DoneView };
  run_jobs: { input: RunJobsInput; output: DoneView };
  restore_version: { input: RestoreVersion; output: DoneView };
  compare_versions: { input: CompareVersions; output: VersionDiff };
  sample_jobs: { input: Nothing; output: DoneView };
  read_crontab: { input: CrontabInput; output: CrontabReading };
  import_crontab: { input: CrontabInput; output: DoneView };
  export_jobs: { input: OfJobs; output: Document };
  apply_jobs: { input: ApplyInput; output: Applied };
  list_calendars: { input: Nothing; output: WorkCalendarList };
  get_calendar: { input: OfCalendar; output: WorkCalendarView };
  put_calendar: { input: PutCalendar; output: CalendarSaved };
  remove_calendar: { input: OfCalendar; output: CalendarSaved };
  calendar_effect: { input: PutCalendar; output: CalendarDraft };
  read_calendar_file: { input: CalendarFile; output: CalendarDraft };
  import_calendar: { input: CalendarFile; output: CalendarSaved };
  export_calendar: { input: ExportCalendar; output: Document };
  calendar: { input: AskCalendar; output: CalendarView };
  reschedule: { input: AskReschedule; output: RescheduleView };
  copy_run: { input: AskCopy; output: AdjustView };
  spread_runs: { input: AskSpread; output: AdjustView };
  list_blackouts: { input: Nothing; output: BlackoutList };
  put_blackout: { input: PutBlackout; output: DoneView };
  remove_blackout: { input: OfBlackout; output: DoneView };
  blackout_effect: { input: PutBlackout; output: BlackoutEffect };
  away: { input: AskAway; output: AwayView };
  list_questions: { input: Nothing; output: QuestionList };
  answer_questions: { input: AnswerQuestions; output: DoneView };
  plan_backfill: { input: AskBackfill; output: BackfillPlan };
  start_backfill: { input: AskBackfill; output: DoneView };
  list_backfills: { input: ListBackfills; output: BackfillList };
  cancel_backfill: { input: OfBackfill; output: DoneView };
  look_at_data: { input: LookAtData; output: DataView };
  data_file: { input: OfFile; output: DataView };
  stage_data: { input: OfFile; output: DataView };
  discard_data: { input: OfFile; output: DoneView };
  list_instances: { input: ListInstances; output: InstancePage };
  get_instance: { input: OfInstance; output: InstanceDetail };
  cancel_instance: { input: OfShards; output: DoneView };
  retry_instance: { input: OfShards; output: DoneView };
  get_sharding: { input: OfInstance; output: ShardingView };
  list_levels: { input: ListLevels; output: LevelColumns };
  list_shards: { input: ListShards; output: ShardPage };
  shard_changes: { input: AskShardChanges; output: ShardChanges };
  get_shard: { input: OfShard; output: ShardView };
  list_tasks: { input: ListTasks; output: TaskPage };
  read_log: { input: ReadLog; output: LogView };
  search_log: { input: SearchLog; output: LogHits };
  why: { input: AskWhy; output: WhyView };
  compare_run: { input: OfInstance; output: ComparisonView };
  list_executors: { input: Nothing; output: ExecutorList };
  executor_log: { input: AskExecutorLog; output: ExecutorLog };
  drain_executor: { input: DrainInput; output: DoneView };
  resume_executor: { input: OfExecutor; output: DoneView };
  list_held: { input: Nothing; output: HeldList };
  list_limits: { input: Nothing; output: LimitList };
  put_limit: { input: PutLimit; output: DoneView };
  list_nodes: { input: Nothing; output: NodeList };
  list_locks: { input: Nothing; output: LockList };
  list_connections: { input: Nothing; output: ConnectionList };
  put_connection: { input: PutConnection; output: DoneView };
  remove_connection: { input: OfConnection; output: DoneView };
  test_connection: { input: TestConnection; output: ConnectionTest };
  make_token: { input: MakeToken; output: TokenMade };
  list_tokens: { input: Nothing; output: TokenList };
  revoke_token: { input: OfToken; output: DoneView };
  list_secrets: { input: Nothing; output: SecretList };
  put_secret: { input: PutSecret; output: DoneView };
  remove_secret: { input: OfSecret; output: DoneView };
  list_alarms: { input: ListAlarms; output: AlarmPage };
  acknowledge_alarms: { input: AcknowledgeInput; output: DoneView };
  list_audit: { input: ListAudit; output: AuditPage };
  ledger: { input: Nothing; output: LedgerView };
}

/** The most that each can be; the least is 1. */
export const retentionMost: Retention = {"instanceDays":3650,"instancesPerJob":1000000,"logDays":3650,"logGigabytes":10000,"alarmDays":3650};
