//! Calendars, as people change them. What it does to future times is written to the audit log with the change;
//! the launcher finds them anew as soon as it sees that there is another almanac.

use campanile_model::calendar::{Calendar, built_in, check};
use campanile_model::{Almanac, Code};
use campanile_store::Change;
use serde_json::{Value, json};

use super::carry::{Draft, Result};
use crate::effect::{effect, jobs_naming};
use crate::shelf::{ALMANAC_SETTING, CALENDAR_SETTING, almanac_changes};

/// Jobs whose changed times are written to the audit log, and times of each.
const MOST_JOBS_NOTED: usize = 100;
const MOST_TIMES_NOTED: usize = 20;

/// Users of a calendar that are named when it cannot be removed.
const MOST_NAMED: usize = 5;

impl Draft<'_> {
    pub(super) async fn put_calendar(&mut self, calendar: &Calendar, seen_revision: Option<u32>) -> Result<()> {
        if let Some(fault) = check(calendar, &self.almanac).into_iter().next() {
            return Err(fault.into());
        }
        let before = self.almanac.calendar_document(&calendar.name).cloned();
        self.check_revision(&calendar.name, before.as_ref(), seen_revision)?;
        if before.as_ref().is_some_and(|before| before.says_the_same(calendar)) {
            return Ok(());
        }
        let saved = Calendar {
            revision: before.as_ref().map_or(0, |before| before.revision) + 1,
            saved_at: Some(self.now),
            saved_by: Some(self.request.who.name.clone()),
            ..calendar.clone()
        };
        let after = self.almanac.with_calendar(saved.clone());
        self.write_calendar(&calendar.name, json!(before), json!(saved), &after).await
    }

    pub(super) async fn remove_calendar(&mut self, name: &str, seen_revision: Option<u32>) -> Result<()> {
        let Some(before) = self.almanac.calendar_document(name).cloned() else {
            return Err(Code::CalendarNotFound.fault().with("calendar", name).into());
        };
        let is_carried = built_in().iter().any(|calendar| calendar.name == name);
        if self.almanac.is_built_in(name) {
            return Err(Code::CalendarBuiltIn.fault().with("calendar", name).into());
        }
        self.check_revision(name, Some(&before), seen_revision)?;
        if !is_carried {
            let mut users = jobs_naming(self.shared.store.as_ref(), name, MOST_NAMED).await?;
            let on_it = self.almanac.calendars().filter(|(other, _)| other.base.as_deref() == Some(name));
            users.extend(on_it.map(|(other, _)| other.name.clone()));
            if !users.is_empty() {
                users.truncate(MOST_NAMED);
                let fault = Code::CalendarInUse.fault().with("calendar", name).with("users", users.join(", "));
                return Err(fault.into());
            }
        }
        let after = self.almanac.without_calendar(name);
        self.write_calendar(name, json!(before), Value::Null, &after).await
    }

    fn check_revision(&self, name: &str, before: Option<&Calendar>, seen: Option<u32>) -> Result<()> {
        let is_at = before.map_or(0, |before| before.revision);
        if seen.is_some_and(|seen| seen != is_at) {
            return Err(Code::CalendarChanged.fault().with("calendar", name).with("revision", is_at).into());
        }
        Ok(())
    }

    async fn write_calendar(&mut self, name: &str, before: Value, after: Value, almanac: &Almanac) -> Result<()> {
        let store = self.shared.store.as_ref();
        let counted = almanac_changes(store).await? + 1;
        self.note(&format!("calendar:{name}"), Some(before), Some(after.clone()).filter(|after| !after.is_null()));
        for effect in effect(store, &self.almanac, almanac, self.now).await?.into_iter().take(MOST_JOBS_NOTED) {
            let noted = &effect.changes[..effect.changes.len().min(MOST_TIMES_NOTED)];
            let before: Vec<Value> = noted.iter().map(|change| json!(change.before)).collect();
            let after: Vec<Value> = noted.iter().map(|change| json!(change.after)).collect();
            self.note(&effect.name, Some(json!({"times": before})), Some(json!({"times": after})));
        }
        self.changes.push(Change::Set { key: format!("{CALENDAR_SETTING}{name}"), value: after });
        self.changes.push(Change::Set { key: ALMANAC_SETTING.to_owned(), value: json!(counted) });
        self.done.changed += 1;
        Ok(())
    }
}
