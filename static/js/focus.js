/* The focus stays where somebody chose, also when the choice loads another page: on a tab, the head of a column, or a
   select that sends its form. */

const KEPT = "focus";

function keep(place) {
  try {
    sessionStorage.setItem(KEPT, place);
  } catch {
    /* private windows: the focus starts at the top */
  }
}

function kept() {
  try {
    const place = sessionStorage.getItem(KEPT);
    sessionStorage.removeItem(KEPT);
    return place;
  } catch {
    return null;
  }
}

document.addEventListener("click", (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return; // it opens beside this page
  const tabs = event.target.closest?.("nav.tabs:has([aria-current]) a") && event.target.closest("nav");
  if (tabs) keep(`nav[aria-label="${CSS.escape(tabs.getAttribute("aria-label"))}"] [aria-current]`);
  const head = event.target.closest?.("th a[id]");
  if (head) keep(`#${CSS.escape(head.id)}`);
});

document.addEventListener("change", (event) => {
  if (event.target.matches("[data-sends]")) keep(`#${CSS.escape(event.target.id)}`);
});

const place = kept();
if (place && document.activeElement === document.body) document.querySelector(place)?.focus({ preventScroll: true });
