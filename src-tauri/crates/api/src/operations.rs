//! The one list of what may be asked. Dispatch, the list of names and the TypeScript are made from it.

use campanile_model::{Code, Fault};
use serde_json::Value;

use crate::typescript::Page;
use crate::views::*;
use crate::{Api, CallContext, input};

macro_rules! operations {
    ($($name:ident($input:ty) -> $output:ty,)*) => {
        pub const OPERATIONS: &[&str] = &[$(stringify!($name),)*];

        pub(crate) fn declare(page: &mut Page) {
            $(page.operation::<$input, $output>(stringify!($name));)*
        }

        impl Api {
            /// Asks one operation by its name.
            pub async fn call(&self, operation: &str, sent: Value, cx: &CallContext) -> Result<Value, Fault> {
                // Somebody may have changed a calendar since, perhaps in another program.
                self.shelf.renew(self.store()).await?;
                match operation {
                    $(stringify!($name) => {
                        let input: $input = input::read(sent)?;
                        // Boxed: the largest of them would be the size of them all.
                        answer(&Box::pin(self.$name(input, cx)).await?)
                    })*
                    _ => Err(Code::UnknownOperation.fault().with("operation", operation)),
                }
            }
        }
    };
}

operations! {
    // the window as a whole
    bootstrap(Nothing) -> Bootstrap,
    status(Nothing) -> Status,
    pulse(Nothing) -> Pulse,
    set_setting(SetInput) -> DoneView,
    hold(HoldInput) -> DoneView,
    release(Nothing) -> DoneView,
    zones(Nothing) -> ZonesView,
    import_zones(ImportZones) -> ZonesImported,

    // jobs
    list_jobs(ListJobs) -> JobPage,
    get_job(OfJob) -> JobDetail,
    preview(AskPreview) -> PreviewView,
    check_job(CheckJob) -> JobCheck,
    save_job(SaveJobInput) -> DoneView,
    remove_jobs(OfJobs) -> DoneView,
    pause_jobs(OfJobs) -> DoneView,
    resume_jobs(OfJobs) -> DoneView,
    run_jobs(RunJobsInput) -> DoneView,
    restore_version(RestoreVersion) -> DoneView,
    compare_versions(CompareVersions) -> VersionDiff,
    sample_jobs(Nothing) -> DoneView,
    read_crontab(CrontabInput) -> CrontabReading,
    import_crontab(CrontabInput) -> DoneView,
    export_jobs(OfJobs) -> Document,
    apply_jobs(ApplyInput) -> Applied,

    // working-day calendars
    list_calendars(Nothing) -> WorkCalendarList,
    get_calendar(OfCalendar) -> WorkCalendarView,
    put_calendar(PutCalendar) -> CalendarSaved,
    remove_calendar(OfCalendar) -> CalendarSaved,
    calendar_effect(PutCalendar) -> CalendarDraft,
    read_calendar_file(CalendarFile) -> CalendarDraft,
    import_calendar(CalendarFile) -> CalendarSaved,
    export_calendar(ExportCalendar) -> Document,

    // the calendar
    calendar(AskCalendar) -> CalendarView,
    reschedule(AskReschedule) -> RescheduleView,
    copy_run(AskCopy) -> AdjustView,
    spread_runs(AskSpread) -> AdjustView,

    // blackout windows
    list_blackouts(Nothing) -> BlackoutList,
    put_blackout(PutBlackout) -> DoneView,
    remove_blackout(OfBlackout) -> DoneView,
    blackout_effect(PutBlackout) -> BlackoutEffect,

    // beside the clock
    away(AskAway) -> AwayView,
    list_questions(Nothing) -> QuestionList,
    answer_questions(AnswerQuestions) -> DoneView,
    plan_backfill(AskBackfill) -> BackfillPlan,
    start_backfill(AskBackfill) -> DoneView,
    list_backfills(ListBackfills) -> BackfillList,
    cancel_backfill(OfBackfill) -> DoneView,

    // data for runs that are cut into shards
    look_at_data(LookAtData) -> DataView,
    data_file(OfFile) -> DataView,
    stage_data(OfFile) -> DataView,
    discard_data(OfFile) -> DoneView,

    // runs
    list_instances(ListInstances) -> InstancePage,
    get_instance(OfInstance) -> InstanceDetail,
    cancel_instance(OfShards) -> DoneView,
    retry_instance(OfShards) -> DoneView,
    get_sharding(OfInstance) -> ShardingView,
    list_levels(ListLevels) -> LevelColumns,
    list_shards(ListShards) -> ShardPage,
    shard_changes(AskShardChanges) -> ShardChanges,
    get_shard(OfShard) -> ShardView,
    list_tasks(ListTasks) -> TaskPage,
    read_log(ReadLog) -> LogView,
    search_log(SearchLog) -> LogHits,
    why(AskWhy) -> WhyView,
    compare_run(OfInstance) -> ComparisonView,

    // executors
    list_executors(Nothing) -> ExecutorList,
    executor_log(AskExecutorLog) -> ExecutorLog,
    drain_executor(DrainInput) -> DoneView,
    resume_executor(OfExecutor) -> DoneView,
    list_held(Nothing) -> HeldList,
    list_limits(Nothing) -> LimitList,
    put_limit(PutLimit) -> DoneView,

    // what it all stands on
    list_nodes(Nothing) -> NodeList,
    list_locks(Nothing) -> LockList,

    // connections
    list_connections(Nothing) -> ConnectionList,
    put_connection(PutConnection) -> DoneView,
    remove_connection(OfConnection) -> DoneView,
    test_connection(TestConnection) -> ConnectionTest,

    // what programs are let in by
    make_token(MakeToken) -> TokenMade,
    list_tokens(Nothing) -> TokenList,
    revoke_token(OfToken) -> DoneView,

    // secrets
    list_secrets(Nothing) -> SecretList,
    put_secret(PutSecret) -> DoneView,
    remove_secret(OfSecret) -> DoneView,

    // alarms and accounts
    list_alarms(ListAlarms) -> AlarmPage,
    acknowledge_alarms(AcknowledgeInput) -> DoneView,
    list_audit(ListAudit) -> AuditPage,
    ledger(Nothing) -> LedgerView,
}

fn answer(view: &impl serde::Serialize) -> Result<Value, Fault> {
    serde_json::to_value(view).map_err(|error| Code::BadRequest.fault().with("reason", error))
}
