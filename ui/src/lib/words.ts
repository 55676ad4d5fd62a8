// What the console says, in English and Simplified Chinese.
//
// Each folder keeps its own words in a `words.ts` beside the code that says them: `export const jobWords = words({...}, {...})`.
// The second argument must have exactly the shape of the first, so a sentence missing in one language does not compile.
// Sentences with parameters are functions. `useWords(jobWords)` gives the words of the language chosen now and follows
// when it is switched. Nothing here formats a date: dates come from the node as text.
import { useSyncExternalStore } from "react";

export type Lang = "en" | "zh";

type Leaf = string | ((...args: never[]) => string);
export interface Tree {
  [key: string]: Leaf | Tree;
}

/** The same sentences in another language: each string a string, each function with the same parameters. */
export type Same<T> = T extends string
  ? string
  : T extends (...args: infer A) => string
    ? (...args: A) => string
    : { [K in keyof T]: Same<T[K]> };

export interface Catalogue<T> {
  en: T;
  zh: T;
}

export function words<T extends Tree>(en: T, zh: Same<T>): Catalogue<Same<T>> {
  return { en: en as unknown as Same<T>, zh };
}

/** What stands between parts that are put together: names in a row, a name and what is said of it, two remarks. */
export const marks = words(
  { and: ", ", colon: ": ", comma: ", ", semicolon: "; ", open: " (", close: ")" },
  { and: "、", colon: "：", comma: "，", semicolon: "；", open: "（", close: "）" },
);

let current: Lang = document.documentElement.lang.startsWith("zh") ? "zh" : "en";
const listeners = new Set<() => void>();

export function getLang(): Lang {
  return current;
}

export function setLang(lang: Lang) {
  if (lang === current) return;
  current = lang;
  document.documentElement.lang = lang === "zh" ? "zh-CN" : "en";
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useLang(): Lang {
  return useSyncExternalStore(subscribe, getLang);
}

export function useWords<T>(catalogue: Catalogue<T>): T {
  return catalogue[useLang()];
}

/** What the node sends in both languages at once (faults, alarms, the words of a schedule). */
export interface Bilingual {
  en: string;
  zh: string;
}

export function useSaid(): (text: Bilingual) => string {
  const lang = useLang();
  return (text) => text[lang];
}

/** English plural: `plural(3, "job")` is '3 jobs'. Chinese needs none. */
export function plural(n: number, one: string, many = `${one}s`): string {
  return `${figure(n)} ${n === 1 ? one : many}`;
}

const grouped = new Intl.NumberFormat("en-US");

/** A count with thousands set apart; the same in both languages, so that columns line up. */
export function figure(n: number): string {
  return grouped.format(n);
}
