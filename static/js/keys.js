/* Keys: / searches, ? lists the shortcuts, g and a letter goes to a page. None while someone is typing. */

const PAGES = { s: "submit", j: "jobs", t: "topology", a: "applications", m: "migrations", r: "reports", h: "help" };
let going = -Infinity;

/* The search of this page, where it has one that can be seen: its list's, else another one, such as its log's. */
const search = () =>
  ["[data-search]", "main input[type=search]"]
    .flatMap((fields) => [...document.querySelectorAll(fields)])
    .find((field) => field.checkVisibility());

const typing = (element) => element?.closest?.("input, textarea, select, [contenteditable]");

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target) || document.querySelector("dialog[open]"))
    return;
  if (event.key === "/") {
    const field = search();
    if (field) {
      event.preventDefault();
      field.focus();
      field.select?.();
    }
  } else if (event.key === "?") {
    event.preventDefault();
    const found = Boolean(search());
    for (const line of document.querySelectorAll("[data-if-search]")) line.hidden = !found;
    document.getElementById("shortcuts")?.showModal();
  } else if (event.key === "g") {
    going = event.timeStamp;
  } else if (PAGES[event.key] && event.timeStamp - going < 1500) {
    document.querySelector(`[data-go="${PAGES[event.key]}"]`)?.click();
  }
});
