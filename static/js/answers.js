/* What htmx shows beside a form or a field while one writes, [data-answers=ID]: as long as it answers another text than
   the one that stands there, it is marked as such. */
import { mark, unmark } from "./outdated.js";

function text(source) {
  if (!(source instanceof HTMLFormElement)) return source.value;
  const given = [...new FormData(source)].filter(([, value]) => typeof value === "string");
  return new URLSearchParams(given).toString();
}

function watch(part, source) {
  let asked = null,
    answered = null;
  const compare = () => (answered === null || answered === text(source) ? unmark(part) : mark(part));
  source.addEventListener("input", compare);
  document.body.addEventListener("htmx:beforeRequest", (event) => {
    if (event.detail.target === part) asked = text(source);
  });
  part.addEventListener("htmx:afterSwap", () => {
    answered = asked;
    compare();
  });
}

for (const part of document.querySelectorAll("[data-answers]")) {
  watch(part, document.getElementById(part.dataset.answers));
}
