// What every view is built of. These know nothing of jobs and tasks (`@/components` does), ask nothing of the node, and
// keep no state but their own. How each is used stands at the top of its file.
export * from "./Bits";
export * from "./Button";
export * from "./Choose";
export { Field, NumberField, TextField } from "./Field";
export * from "./Kbd";
export * from "./LogView";
export * from "./Menu";
export * from "./Overlay";
export * from "./Table";
export { dismissToast, Toasts, toast } from "./Toast";
export * from "./Tooltip";
