/* The mark on what belongs to a form as it was before the last change. */

const OLD = "From before your last change";

/* htmx takes the words away with what is there. */
export function mark(part) {
  if (part.querySelector(":scope > .preview-old")) return;
  part.dataset.old = "yes";
  part.append(Object.assign(document.createElement("p"), { className: "preview-old", textContent: OLD }));
}

export function unmark(part) {
  delete part.dataset.old;
  part.querySelector(":scope > .preview-old")?.remove();
}
