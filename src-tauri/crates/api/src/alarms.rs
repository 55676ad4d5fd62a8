//! Alarms, the audit log and the ledger: what a person answers for.

use campanile_engine::ledger;
use campanile_model::alarm::{Alarm, AlarmState};
use campanile_model::request::{Ask, Role};
use campanile_model::{AlarmId, Code, Fault, JobId, Words};

use crate::jobs::page_size;
use crate::moments::Told;
use crate::views::*;
use crate::{Api, CallContext};

impl Api {
    pub(crate) async fn list_alarms(&self, list: ListAlarms, cx: &CallContext) -> Result<AlarmPage, Fault> {
        let told = self.told(cx)?;
        let page = self.archive.alarm_page(&list.states, list.cursor, page_size(list.limit)).await?;
        let rows = page.rows.into_iter().map(|alarm| alarm_row(alarm, &told, cx)).collect();
        Ok(AlarmPage { rows, next: page.next })
    }

    pub(crate) async fn acknowledge_alarms(
        &self,
        input: AcknowledgeInput,
        cx: &CallContext,
    ) -> Result<DoneView, Fault> {
        if input.note.trim().is_empty() {
            return Err(Code::NoteMissing.fault().at("note"));
        }
        let mut alarms = Vec::with_capacity(input.alarms.len());
        for alarm in &input.alarms {
            let id: AlarmId =
                alarm.parse().map_err(|_| Code::AlarmNotFound.fault().with("alarm", alarm).at("alarms"))?;
            alarms.push(id);
        }
        self.ask(cx, Ask::AcknowledgeAlarms { alarms, note: input.note.trim().to_owned() }).await.map(DoneView::from)
    }

    pub(crate) async fn list_audit(&self, list: ListAudit, cx: &CallContext) -> Result<AuditPage, Fault> {
        let told = self.told(cx)?;
        let page = self.archive.audit_page(list.cursor, page_size(list.limit)).await?;
        let rows = page.rows.into_iter().map(|entry| AuditRow {
            at: told.moment(entry.at),
            who: entry.who,
            action: entry.action,
            subject: entry.subject,
            before: entry.before,
            after: entry.after,
        });
        Ok(AuditPage { rows: rows.collect(), next: page.next })
    }

    pub(crate) async fn ledger(&self, _: Nothing, cx: &CallContext) -> Result<LedgerView, Fault> {
        let told = self.told(cx)?;
        let report = ledger::check_all(self.store(), &self.almanac()).await?;
        let jobs: Vec<JobId> = report.findings.iter().map(|finding| finding.job).collect();
        let names = self.names(&jobs).await?;
        let findings = report.findings.into_iter().map(|finding| LedgerFindingView {
            job: names.get(&finding.job).cloned().unwrap_or_default(),
            at: told.maybe(finding.at),
            words: finding.words,
        });
        let findings: Vec<LedgerFindingView> = findings.collect();
        Ok(LedgerView {
            clean: findings.is_empty(),
            jobs: report.jobs,
            spans: report.spans,
            planned: report.planned,
            made: report.made,
            not_made: report.not_made,
            findings,
        })
    }
}

pub(crate) fn alarm_row(alarm: Alarm, told: &Told, cx: &CallContext) -> AlarmRow {
    let can_acknowledge = match alarm.state {
        AlarmState::Firing => cx.may(Role::Operator),
        AlarmState::Acknowledged => Allowed::no(Words::new("it is acknowledged already", "已确认")),
        AlarmState::Resolved => Allowed::no(Words::new("it is over", "已恢复")),
    };
    AlarmRow {
        id: alarm.id.to_string(),
        rule: alarm.rule,
        severity: alarm.severity,
        state: alarm.state,
        subject: alarm.subject,
        job: alarm.job.map(|job| job.to_string()),
        message: alarm.message,
        first: told.moment(alarm.first_at),
        last: told.moment(alarm.last_at),
        count: alarm.count,
        acknowledged: alarm.acknowledged.map(|acknowledged| AcknowledgementView {
            by: acknowledged.by,
            at: told.moment(acknowledged.at),
            note: acknowledged.note,
        }),
        resolved: told.maybe(alarm.resolved_at),
        can_acknowledge,
    }
}
