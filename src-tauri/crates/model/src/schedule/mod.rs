//! When: schedules, and the times they plan.
