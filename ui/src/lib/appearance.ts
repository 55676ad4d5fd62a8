// Theme, language, the rail's width: how the console looks to this person. Remembered here for the first paint; the
// settings of the node, once they are read, have the last word (`adopt`).
import { useSyncExternalStore } from "react";
import { type Lang, setLang } from "./words";

export type Theme = "light" | "dark" | "system";

export interface Appearance {
  theme: Theme;
  lang: Lang;
  railShut: boolean;
}

const KEY = "campanile.appearance";
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set<() => void>();

function remembered(): Appearance {
  const plain: Appearance = {
    theme: "system",
    lang: navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en",
    railShut: false,
  };
  try {
    return { ...plain, ...JSON.parse(window.localStorage.getItem(KEY) ?? "{}") };
  } catch {
    return plain;
  }
}

let appearance = remembered();

function paint() {
  const isDark = appearance.theme === "dark" || (appearance.theme === "system" && dark.matches);
  document.documentElement.dataset.theme = isDark ? "dark" : "light";
  setLang(appearance.lang);
}

dark.addEventListener("change", paint);
paint();

export function getAppearance(): Appearance {
  return appearance;
}

export function adopt(part: Partial<Appearance>) {
  appearance = { ...appearance, ...part };
  window.localStorage.setItem(KEY, JSON.stringify(appearance));
  paint();
  for (const listener of listeners) listener();
}

export function useAppearance(): Appearance {
  return useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, getAppearance);
}
