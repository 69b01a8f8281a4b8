/* The map: find a node, fit, click for details. The facts are those of the table below it. */

const box = document.querySelector("[data-map]");
const detail = document.getElementById("map-detail");
const read = () => JSON.parse(document.getElementById("map-facts")?.textContent || "{}");

function row(word, value) {
  const dt = Object.assign(document.createElement("dt"), { textContent: word });
  const dd = Object.assign(document.createElement("dd"), { textContent: value });
  return [dt, dd];
}

function show(name) {
  const fact = read()[name];
  if (!fact || !detail) return;
  const title = document.createElement("h3");
  title.append(Object.assign(document.createElement("a"), { href: fact.href, textContent: fact.title }));
  const list = Object.assign(document.createElement("dl"), { className: "facts" });
  list.append(...fact.rows.flatMap(([word, value]) => row(word, value)));
  detail.replaceChildren(title, list);
}

function find(name) {
  const wanted = name.trim().toLowerCase();
  const said = document.querySelector("[data-map-found]");
  const facts = read();
  const hit = wanted && (Object.keys(facts).find((key) => key.toLowerCase() === wanted) ||
    Object.keys(facts).find((key) => !key.includes(">") && key.toLowerCase().startsWith(wanted)));
  said.textContent = hit || !wanted ? "" : `No node is called ${name.trim()}.`;
  said.classList.toggle("bad", Boolean(said.textContent));
  if (!hit) return point([]);
  show(hit);
  const place = facts[hit].at;
  if (!place) return point([]);
  const style = getComputedStyle(document.documentElement), token = (name) => style.getPropertyValue(name).trim();
  point([{ x: place[0], y: place[1], text: hit, showarrow: true, arrowhead: 2, arrowwidth: 2, ax: 0, ay: -48, standoff: 9, arrowcolor: token("--risk"),
    font: { size: 14, color: token("--paper") }, bgcolor: token("--risk"), borderpad: 3 }]);
}

/* What is pointed at on the map; nothing takes the last mark away. */
function point(annotations) {
  if (box?.layout) window.Plotly.relayout(box, { annotations });
}

box?.addEventListener("drawn", () => {
  if (box.listening) return;
  box.listening = true;
  box.on("plotly_click", (event) => show(event.points[0].customdata));
});
document.querySelector("[data-map-find]")?.addEventListener("submit", (event) => {
  event.preventDefault();
  find(new FormData(event.target).get("node"));
});
// An emptied search takes its mark along.
document.getElementById("find-node")?.addEventListener("input", (event) => { if (!event.target.value.trim()) find(""); });
document.querySelector("[data-map-fit]")?.addEventListener("click", () => {
  window.Plotly.relayout(box, { "xaxis.autorange": true, "yaxis.autorange": true, annotations: [] });
});
