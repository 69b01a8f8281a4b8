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
  marked = "";

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

/* What is amiss with the search; nothing takes the last sentence away. */
function say(sentence) {
  const said = document.querySelector("[data-map-found]");
  if (!said) return;
  said.textContent = sentence;
  said.classList.toggle("bad", Boolean(sentence));
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

function find(name) {
  const wanted = name.trim().toLowerCase();
  const facts = read();
  const hit =
    wanted &&
    (called(wanted, facts) ||
      pair(wanted, facts) ||
      Object.keys(facts).find((key) => !key.includes(">") && key.toLowerCase().startsWith(wanted)));
  say(hit || !wanted ? "" : `No ${wanted.includes(">") ? "link" : "node"} is called ${name.trim()}.`);
  keep(hit || "");
  mark(hit, facts);
  if (hit) show(hit);
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
  const place = placed(marked, facts);
  if (!place) return point([]);
  const style = getComputedStyle(document.documentElement),
    token = (name) => style.getPropertyValue(name).trim();
  point([
    {
      x: place[0],
      y: place[1],
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
