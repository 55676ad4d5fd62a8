//! Tables of examples for schedules.
