/* The theme: light, dark or the system's. Runs before the first paint, so that nothing flashes. The administration keeps
   its own under the same name, where "auto" is the system's: one choice holds in both. */
(() => {
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const paper = matchMedia("print"); // paper is white, whatever the screen is
  const wanted = () => {
    try {
      const kept = localStorage.getItem("theme");
      return kept === "light" || kept === "dark" ? kept : "system";
    } catch {
      return "system";
    }
  };
  const show = () => {
    const choice = wanted();
    const theme = paper.matches ? "light" : choice === "system" ? (system.matches ? "dark" : "light") : choice;
    const changed = root.dataset.theme && root.dataset.theme !== theme;
    root.dataset.theme = theme;
    for (const button of document.querySelectorAll("[data-choose-theme]"))
      button.setAttribute("aria-pressed", String(button.dataset.chooseTheme === choice));
    if (changed) document.dispatchEvent(new CustomEvent("themechange"));
  };
  show();
  system.addEventListener("change", show);
  paper.addEventListener("change", show);
  addEventListener("storage", show);
  document.addEventListener("DOMContentLoaded", show);
  document.addEventListener("click", (event) => {
    const button = event.target.closest?.("[data-choose-theme]");
    if (!button) return;
    try {
      localStorage.setItem("theme", button.dataset.chooseTheme.replace("system", "auto"));
    } catch {
      /* private windows: this page only */
    }
    show();
  });
})();
