/* The live log: follows, searches, wraps. Reads only what is new: the address takes the byte offset. While the page is
   paused it reads nothing, and then goes on where it stopped. */

const EVERY = 1500;
const MOST = 2_000_000;

const watched = new WeakSet();
const paused = () => document.querySelector("[data-live-pause]")?.getAttribute("aria-pressed") === "true";

/* The pane may come with a later refresh: a job that waits has no log yet. */
function find() {
  for (const pane of document.querySelectorAll("[data-log]")) {
    if (watched.has(pane)) continue;
    watched.add(pane);
    watch(pane);
  }
}

find();
document.addEventListener("htmx:afterSettle", find);

function watch(pane) {
  const box = document.getElementById(pane.dataset.tools);
  const part = (name) => box.querySelector(`[data-log-${name}]`);
  const follow = part("follow"),
    wrap = part("wrap"),
    search = part("search"),
    found = part("found");
  let offset = Number(pane.dataset.offset),
    hits = [],
    at = -1;

  const bottom = () => {
    if (follow.checked) pane.scrollTop = pane.scrollHeight;
  };

  async function read() {
    let again = EVERY;
    if (paused()) {
      setTimeout(read, again);
      return;
    }
    try {
      const answer = await fetch(`${pane.dataset.log}?offset=${offset}`, { headers: { Accept: "application/json" } });
      if (answer.ok && !answer.redirected) {
        const { text, end, complete, more } = await answer.json();
        // What comes after the click on Pause is read again once the page goes on.
        if (!paused()) {
          if (text) add(text);
          offset = end;
          if (complete && !more) return;
          if (more) again = 0;
        }
      }
    } catch {
      /* the live mark says that the server is away */
    }
    setTimeout(read, document.hidden ? EVERY * 10 : again);
  }

  function add(text) {
    if (search.value) clear();
    const last = pane.lastChild;
    if (last?.nodeType === Node.TEXT_NODE) last.appendData(text);
    else pane.append(text);
    pane.classList.remove("waiting");
    if (pane.textContent.length > MOST) pane.textContent = pane.textContent.slice(-MOST);
    if (search.value) look();
    bottom();
  }

  function clear() {
    for (const mark of pane.querySelectorAll("mark")) mark.replaceWith(mark.textContent);
    pane.normalize();
    hits = [];
  }

  function look() {
    clear();
    at = -1;
    const wanted = search.value.toLowerCase();
    found.textContent = "";
    if (!wanted) return;
    const text = pane.textContent,
      lower = text.toLowerCase(),
      parts = [];
    let from = 0;
    for (let i = lower.indexOf(wanted); i >= 0 && hits.length < 1000; i = lower.indexOf(wanted, i + wanted.length)) {
      const mark = Object.assign(document.createElement("mark"), { textContent: text.slice(i, i + wanted.length) });
      parts.push(text.slice(from, i), mark);
      hits.push(mark);
      from = i + wanted.length;
    }
    pane.replaceChildren(...parts, text.slice(from));
    found.textContent = hits.length ? `${hits.length} found, Enter for the next` : "not found";
  }

  function next() {
    if (!hits.length) return;
    hits[at]?.classList.remove("current");
    at = (at + 1) % hits.length;
    hits[at].classList.add("current");
    follow.checked = false;
    hits[at].scrollIntoView({ block: "nearest" });
    found.textContent = `${at + 1} of ${hits.length}`;
  }

  pane.addEventListener("scroll", () => {
    const atEnd = pane.scrollHeight - pane.scrollTop - pane.clientHeight < 24;
    if (!atEnd) follow.checked = false;
  });
  follow.addEventListener("change", bottom);
  wrap.addEventListener("change", () => pane.classList.toggle("wrap", wrap.checked));
  search.addEventListener("input", look);
  search.addEventListener("keydown", (event) => {
    if (event.key === "Enter") {
      event.preventDefault();
      next();
    }
  });
  bottom();
  if (pane.dataset.complete !== "yes") setTimeout(read, EVERY);
}
