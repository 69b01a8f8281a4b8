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
  const hit = Object.keys(facts).find((key) => key.toLowerCase() === wanted) ||
    Object.keys(facts).find((key) => !key.includes(">") && key.toLowerCase().startsWith(wanted));
  if (!wanted) return;
  said.textContent = hit ? "" : `no node is called ${name}`;
  if (!hit) return;
  show(hit);
  const place = facts[hit].at;
  if (box?.layout && place)
    window.Plotly.relayout(box, { annotations: [{ x: place[0], y: place[1], text: hit, showarrow: true, arrowhead: 6, ax: 0, ay: -44,
      arrowcolor: getComputedStyle(document.documentElement).getPropertyValue("--accent"), font: { size: 14 } }] });
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
document.querySelector("[data-map-fit]")?.addEventListener("click", () => {
  window.Plotly.relayout(box, { "xaxis.autorange": true, "yaxis.autorange": true, annotations: [] });
});
