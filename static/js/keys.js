/* Keys: / searches, ? lists the shortcuts, g and a letter goes to a page. None while someone is typing. */

const PAGES = { s: "submit", j: "jobs", t: "topology", a: "applications", h: "help" };
let going = -Infinity;

const typing = (element) => element?.closest?.("input, textarea, select, [contenteditable]");

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target) || document.querySelector("dialog[open]"))
    return;
  if (event.key === "/") {
    const search = document.querySelector("[data-search]");
    if (search) {
      event.preventDefault();
      search.focus();
      search.select?.();
    }
  } else if (event.key === "?") {
    event.preventDefault();
    document.getElementById("shortcuts")?.showModal();
  } else if (event.key === "g") {
    going = event.timeStamp;
  } else if (PAGES[event.key] && event.timeStamp - going < 1500) {
    document.querySelector(`[data-go="${PAGES[event.key]}"]`)?.click();
  }
});
