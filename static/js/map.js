/* The map: find a node, fit, click for details. The facts are those of the table below it. */

const box = document.querySelector("[data-map]");
const detail = document.getElementById("map-detail");
const read = () => JSON.parse(document.getElementById("map-facts")?.textContent || "{}");

const make = (name, properties) => Object.assign(document.createElement(name), properties);

/* A word and its value; a moment as well where the value is an age, which then goes on counting. */
function row([word, value, moment]) {
  const dd = make("dd", moment ? {} : { textContent: value });
  if (moment) {
    const time = make("time", {
      dateTime: moment,
      textContent: value,
      title: `${moment.slice(0, 19).replace("T", " ")} UTC`,
    });
    time.dataset.ago = "";
    dd.append(time);
  }
  return [make("dt", { textContent: word, className: word.startsWith("stale") ? "stale" : "" }), dd];
}

let shown = "",
  marked = "",
  words = "", // what was searched for last, and which of the nodes that fit is shown
  place = 0;

/* Of a large network the figures are asked for one by one. */
async function fetched(name) {
  const here = new URLSearchParams(location.search),
    asked = new URLSearchParams({ of: name });
  for (const word of ["cluster", "at"]) if (here.get(word)) asked.set(word, here.get(word));
  try {
    const answer = await fetch(`${box.dataset.facts}?${asked}`);
    return answer.ok && !answer.redirected ? await answer.json() : null;
  } catch {
    return null;
  } // the live mark says that the server is away
}

/* A connection is known by its worse direction: the name of the other one means it too. */
const turned = (name) => name.split(">").reverse().join(">");

async function show(name) {
  if (!detail) return;
  shown = name;
  const facts = read();
  const known = facts[name] ?? facts[turned(name)];
  // A page with the figures of its links has those of all.
  const hasLinks = Object.keys(facts).some((key) => key.includes(">"));
  const isAbsent = !known && hasLinks && name.includes(">");
  const fact = known?.parts || isAbsent ? known : await fetched(name);
  if (shown !== name) return;
  if (!fact) return isAbsent ? say(`No link is called ${name}.`) : undefined;
  const title = make("h2");
  title.append(make("a", { href: fact.href, textContent: fact.title }));
  const parts = fact.parts.flatMap(({ head, rows }) => {
    const list = make("dl", { className: "facts" });
    list.append(...rows.flatMap(row));
    return head ? [make("h3", { textContent: head }), list] : [list];
  });
  detail.replaceChildren(title, ...parts);
}

/* A click shows what a search for the same name shows, and leaves the same address. */
function choose(name) {
  if (!name) return; // a pair of the job's own
  const input = document.getElementById("find-node");
  if (input) input.value = name;
  say("");
  keep(name);
  mark(name, read());
  show(name);
}

/* What is to be said of the search, or amiss with it; nothing takes the last sentence away. */
function say(sentence, amiss = true) {
  const said = document.querySelector("[data-map-found]");
  if (!said) return;
  said.textContent = sentence;
  said.classList.toggle("bad", amiss && Boolean(sentence));
}

/* As it is called on the map, whatever the case. */
function called(wanted, facts) {
  return Object.keys(facts).find((key) => key.toLowerCase() === wanted);
}

/* A pair of nodes that are both there. */
function pair(wanted, facts) {
  const ends = wanted.split(">").map((end) => called(end.trim(), facts));
  return ends.length === 2 && ends.every(Boolean) ? ends.join(">") : undefined;
}

/* All that a search may mean: what is called so, else each node whose name begins so. */
function fitting(wanted, facts) {
  const exact = called(wanted, facts) || pair(wanted, facts);
  if (exact) return [exact];
  return Object.keys(facts).filter((key) => !key.includes(">") && key.toLowerCase().startsWith(wanted));
}

/* Of several that fit, the same search again shows the next one. */
function find(name) {
  const wanted = name.trim().toLowerCase();
  const facts = read();
  const hits = wanted ? fitting(wanted, facts) : [];
  place = wanted === words && hits.length ? (place + 1) % hits.length : 0;
  words = wanted;
  const hit = hits[place];
  if (hits.length > 1) say(`${place + 1} of ${hits.length} nodes that fit. Press Enter for the next one.`, false);
  else say(hit || !wanted ? "" : `No ${wanted.includes(">") ? "link" : "node"} is called ${name.trim()}.`);
  keep(hit || "");
  mark(hit, facts);
  if (!hit) return;
  bring(hit, facts);
  show(hit);
}

/* Into view: the map where the page has scrolled past it, and the place where the map is drawn enlarged. */
function bring(hit, facts) {
  const at = placed(hit, facts);
  if (!at || !box?.layout) return;
  box.scrollIntoView({ block: "nearest" });
  const moved = {};
  for (const [axis, value] of [
    ["xaxis", at[0]],
    ["yaxis", at[1]],
  ]) {
    const [from, to] = box.layout[axis]?.range ?? [];
    if (from === undefined || (value - from) * (value - to) <= 0) continue;
    moved[`${axis}.range`] = [value - (to - from) / 2, value + (to - from) / 2];
  }
  if (Object.keys(moved).length) window.Plotly.relayout(box, moved);
}

/* What was found stands in the address, so that a reload or a colleague sees it too. */
function keep(name) {
  const here = new URL(location);
  here.searchParams.delete("node"); // as a form without scripts had it
  if (name) here.searchParams.set("find", name);
  else here.searchParams.delete("find");
  history.replaceState(history.state, "", here);
}

/* Where a node is, or the middle of a link. */
function placed(name, facts) {
  const ends = name.split(">").map((each) => facts[each]?.at);
  if (!ends.every(Boolean)) return null;
  return [0, 1].map((axis) => ends.reduce((sum, at) => sum + at[axis], 0) / ends.length);
}

function mark(hit, facts) {
  marked = hit || "";
  const at = placed(marked, facts);
  if (!at) return point([]);
  const style = getComputedStyle(document.documentElement),
    token = (name) => style.getPropertyValue(name).trim();
  point([
    {
      x: at[0],
      y: at[1],
      text: hit.replace(">", "–"),
      showarrow: true,
      arrowhead: 2,
      arrowwidth: 2,
      ax: 0,
      ay: -48,
      standoff: 9,
      arrowcolor: token("--risk"),
      font: { size: 14, color: token("--paper") },
      bgcolor: token("--risk"),
      borderpad: 3,
    },
  ]);
}

/* What is pointed at on the map; nothing takes the last mark away. */
function point(annotations) {
  if (box?.layout) window.Plotly.relayout(box, { annotations });
}

function listen() {
  if (shown) show(shown); // new figures of what is looked at
  if (marked) mark(marked, read()); // a new drawing has no mark
  if (!box.on || box.listening) return;
  box.listening = true;
  box.on("plotly_click", (event) => choose(event.points[0].customdata));
  const wanted = document.getElementById("find-node")?.value;
  if (wanted) find(wanted);
}

box?.addEventListener("drawn", listen);
if (box) listen(); // it may have been drawn before this script ran
document.querySelector("[data-map-find]")?.addEventListener("submit", (event) => {
  event.preventDefault();
  find(new FormData(event.target).get("find"));
});
// An emptied search takes its mark along.
document.getElementById("find-node")?.addEventListener("input", (event) => {
  if (!event.target.value.trim()) find("");
});
document.querySelector("[data-map-fit]")?.addEventListener("click", () => {
  window.Plotly.relayout(box, { "xaxis.autorange": true, "yaxis.autorange": true });
});
