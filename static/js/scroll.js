/* Tables that scroll in a box of their own say how much is out of sight. */

const STRIP = 21; // the line that says so covers the last rows
const count = (number, word) => `${number} more ${word}${number === 1 ? "" : "s"}`;

function words(box) {
  const parts = [],
    edge = box.getBoundingClientRect(),
    bottom = edge.bottom - (box.dataset.more ? STRIP : 0);
  if (box.scrollHeight - box.clientHeight - box.scrollTop > 4) {
    const below = [...box.querySelectorAll("tbody tr")].filter(
      (row) => row.getBoundingClientRect().bottom > bottom + 2,
    );
    if (below.length) parts.push(`${count(below.length, "row")} below`);
  }
  if (box.scrollWidth - box.clientWidth - box.scrollLeft > 4) {
    const right = [...box.querySelectorAll("thead tr:last-child th")].filter(
      (head) => head.getBoundingClientRect().right - parseFloat(getComputedStyle(head).paddingRight) > edge.right + 1,
    );
    if (right.length) parts.push(`${count(right.length, "column")} to the right`);
  }
  return parts.length ? `scroll for ${parts.join(", ")}` : "";
}

function say(box) {
  const said = words(box);
  if ((box.dataset.more || "") === said) return;
  if (said) box.dataset.more = said;
  else delete box.dataset.more;
}

const sizes = new ResizeObserver((entries) => {
  for (const entry of entries) say(entry.target);
});

function all() {
  for (const box of document.querySelectorAll(".scroll")) {
    sizes.observe(box);
    say(box);
  }
}

all();
document.addEventListener(
  "scroll",
  (event) => {
    if (event.target.matches?.(".scroll")) say(event.target);
  },
  { capture: true, passive: true },
);
document.addEventListener("htmx:afterSettle", all);
document.addEventListener("toggle", all, { capture: true });
