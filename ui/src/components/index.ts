// What knows our nouns and is shared by views: how a state, a job, a time, an alarm looks. No view imports another view.

export * from "./Answer";
export * from "./AnswerTable";
export * from "./BlackoutEffect";
export * from "./JobBox";
export * from "./JobsField";
export * from "./LeaveGuard";
export * from "./nouns";
export * from "./ParameterForm";
export * from "./PartName";
export * from "./ShardBar";
export * from "./StateGlyph";
export * from "./states";
export * from "./View";
