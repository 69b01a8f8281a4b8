/* Choosing many rows of the list of jobs: the box in the head ticks the page, Shift ticks all between two, and the
   bar says how many are chosen. Without this the boxes and the buttons work as well. */

const boxes = () => [...document.querySelectorAll('input[name="job"][form="many"]')];
let last = null;

function count() {
  const all = boxes();
  const chosen = all.filter((box) => box.checked).length;
  const every = document.getElementById("pick-all")?.checked;
  const place = document.getElementById("picked");
  if (place) place.textContent = every ? "all chosen" : `${chosen} chosen`;
  const head = document.getElementById("pick-page");
  if (!head) return;
  head.checked = all.length > 0 && chosen === all.length;
  head.indeterminate = chosen > 0 && chosen < all.length;
}

document.addEventListener("click", (event) => {
  const box = event.target;
  if (!box.matches?.('input[name="job"][form="many"]')) return;
  const all = boxes();
  const before = all.findIndex((each) => each.id === last);
  if (event.shiftKey && before >= 0) {
    const [from, to] = [before, all.indexOf(box)].toSorted((a, b) => a - b);
    for (const each of all.slice(from, to + 1)) each.checked = box.checked;
  }
  last = box.id;
});

document.addEventListener("change", (event) => {
  if (event.target.id === "pick-page") for (const box of boxes()) box.checked = event.target.checked;
  if (event.target.matches?.("#pick-page, #pick-all, [form='many']")) count();
});

document.addEventListener("htmx:afterSettle", count);
addEventListener("pageshow", count);
count();
