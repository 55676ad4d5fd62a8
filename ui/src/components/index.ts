// What knows our nouns and is shared by views: how a state, a job, a time, an alarm looks. No view imports another view.

export * from "./Answer";
export * from "./JobsField";
export * from "./nouns";
export * from "./ParameterForm";
export * from "./StateGlyph";
export * from "./states";
export * from "./View";
