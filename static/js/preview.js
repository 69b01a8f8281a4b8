/* The preview of the submit form: asked for after each change, and only the newest question counts. One is asked at a
   time, because the portal works on the old one even where nobody waits for it. What takes long says so, and what
   takes too long or fails can be asked for again. After a change the old preview is marked as such. */
import { mark, unmark } from "./outdated.js";

const REST = 350; // ms without typing before it asks
const LATE = 1500;
const TOO_LATE = 8000;
const LONGEST = 60_000;

const preview = document.querySelector("[data-preview]");
const state = document.querySelector("[data-preview-state]");
const form = document.getElementById("submit-form");

let asking = null,
  late = false, // it takes longer than usual
  next = false, // to be asked again with what was changed meanwhile
  waiting = [],
  resting = 0,
  changes = 0,
  shown = false;

function show(words, again) {
  state.replaceChildren(...(words ? [Object.assign(document.createElement("span"), { textContent: words })] : []));
  if (words && asking) {
    const bar = document.createElement("progress");
    bar.setAttribute("aria-label", "Preview under way");
    state.prepend(bar);
  }
  if (!again) return;
  const button = Object.assign(document.createElement("button"), { type: "button", textContent: "Try again" });
  button.className = "small";
  button.addEventListener("click", ask);
  state.append(button);
}

function fields() {
  return new URLSearchParams([...new FormData(form)].filter(([, value]) => typeof value === "string"));
}

async function answer(signal) {
  const response = await fetch(preview.dataset.preview, { method: "POST", body: fields(), signal });
  if (response.status === 429) {
    // Previews and matches of the same person are still being made.
    if (response.headers.get("Content-Type")?.startsWith("text/plain")) show(await response.text());
    await new Promise((done) => setTimeout(done, 1000 * (Number(response.headers.get("Retry-After")) || 2)));
    signal.throwIfAborted();
    return answer(signal);
  }
  if (response.redirected) throw new Error("You are signed out. Sign in again in another window, then try again.");
  if (!response.ok) throw new Error(`There is no preview: the portal answered with error ${response.status}.`);
  return response.text();
}

function over() {
  for (const timer of waiting) clearTimeout(timer);
  asking = null;
  preview.setAttribute("aria-busy", "false");
}

/* What is there belongs to the form as it was. */
function outdated() {
  if (shown) mark(preview);
}

function tooLate() {
  late = true;
  show("This takes longer than usual.", true);
  if (next) ask();
}

async function ask() {
  next = asking !== null && !late;
  if (next) return;
  const before = changes;
  asking?.abort();
  if (asking) over();
  late = false;
  const mine = (asking = new AbortController());
  preview.setAttribute("aria-busy", "true");
  if (!state.querySelector("progress")) show("");
  waiting = [
    setTimeout(() => show("The nodes are still being chosen."), LATE),
    setTimeout(tooLate, TOO_LATE),
    setTimeout(() => mine.abort(new Error("There is no preview: the portal did not answer in a minute.")), LONGEST),
  ];
  try {
    const html = await answer(mine.signal);
    if (mine !== asking) return;
    over();
    if (next) {
      ask();
      return;
    }
    show("");
    window.htmx.swap(preview, html, { swapStyle: "innerHTML" });
    shown = true;
    unmark(preview);
    if (changes !== before) outdated();
  } catch (error) {
    if (mine !== asking) return; // a newer question took its place
    over();
    if (next) {
      ask();
      return;
    }
    show(error instanceof TypeError ? "There is no preview: the portal does not answer." : error.message, true);
  }
}

function later() {
  changes += 1;
  outdated();
  clearTimeout(resting);
  resting = setTimeout(ask, REST);
}

if (preview && form) {
  form.addEventListener("input", later);
  form.addEventListener("change", later);
  ask();
}
