// Before anything is drawn: the theme and the language of last time, so that a dark window never flashes white.
// A file and not an inline script, because the page's content policy allows none. The settings of the node win later.
(() => {
  let remembered = {};
  try {
    remembered = JSON.parse(localStorage.getItem("campanile.appearance") ?? "{}");
  } catch {
    remembered = {};
  }
  const dark =
    remembered.theme === "dark" ||
    (remembered.theme !== "light" && window.matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  document.documentElement.lang = remembered.lang === "zh" ? "zh-CN" : "en";
})();
