// The schedule builder: what a schedule is while one writes it, and the fields for each kind. Jobs are written with it, and
// the windows in which nothing fires.
export * from "./ClockFields";
export * from "./CronFields";
export * from "./fields";
export * from "./IntervalFields";
export * from "./RepeatFields";
export * from "./schedule";
export * from "./WindowFields";
export * from "./window";
export { scheduleWords } from "./words";
