/* What was asked for through htmx and did not come is told beside it, and can be asked for again. Live parts ask again by
   themselves (live.js). */

const WHY = {
  "htmx:sendError": () => "The portal does not answer.",
  "htmx:timeout": () => "The portal did not answer in time.",
  "htmx:responseError": (xhr) => `The portal answered with error ${xhr.status}.`,
};
const isLive = (element) => element.matches?.("[data-live]");

function forget(target) {
  if (target.nextElementSibling?.matches("[data-unanswered]")) target.nextElementSibling.remove();
}

function tell(words, { elt, target, requestConfig }) {
  forget(target);
  const note = document.createElement("p");
  note.className = "bad";
  note.dataset.unanswered = "";
  note.setAttribute("role", "alert");
  const again = Object.assign(document.createElement("button"), { type: "button", textContent: "Try again" });
  again.className = "small";
  again.addEventListener("click", () => {
    note.remove();
    window.htmx.ajax(requestConfig.verb, requestConfig.path, { source: elt, target });
  });
  note.append(`✕ ${words} `, again);
  target.after(note);
}

for (const [name, words] of Object.entries(WHY))
  document.addEventListener(name, ({ detail }) => {
    if (!isLive(detail.elt)) tell(words(detail.xhr), detail);
  });

document.addEventListener("htmx:afterRequest", ({ detail }) => {
  if (detail.successful) forget(detail.target);
});
