/* Charts by Plotly in the page's own tokens. `data-chart="id"` names the JSON with the figure; a string like
   "--r3" in it is a token of the style sheet, read again when the theme changes. */

const tokens = () => getComputedStyle(document.documentElement);

// An explicit list: what Plotly shows by itself includes a button that sends the chart to a foreign server.
const BUTTONS = [["zoomIn2d", "zoomOut2d", "pan2d", "zoom2d", "resetScale2d"]];

function resolve(value, style) {
  if (typeof value === "string") return value.startsWith("--") ? style.getPropertyValue(value).trim() : value;
  if (Array.isArray(value)) return value.every(Number.isFinite) ? value : value.map((item) => resolve(item, style));
  if (value && typeof value === "object")
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, resolve(item, style)]));
  return value;
}

function layout(own, style) {
  const ink = style.getPropertyValue("--soft").trim(),
    line = style.getPropertyValue("--line").trim();
  const axis = { gridcolor: line, linecolor: line, zerolinecolor: line, automargin: true, fixedrange: false };
  const base = {
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    margin: { l: 48, r: 12, t: 8, b: 40 },
    modebar: { bgcolor: "rgba(0,0,0,0)", color: ink, activecolor: style.getPropertyValue("--accent").trim() },
    font: { family: style.getPropertyValue("--font").trim(), size: 12, color: ink },
    showlegend: false,
    hoverlabel: {
      bgcolor: style.getPropertyValue("--panel").trim(),
      bordercolor: line,
      font: { color: style.getPropertyValue("--ink").trim() },
    },
  };
  const axes = Object.fromEntries(["xaxis", "yaxis"].map((name) => [name, { ...axis, ...(own[name] || {}) }]));
  return { ...base, ...own, ...axes };
}

export function draw(box) {
  const source = document.getElementById(box.dataset.chart);
  if (!source || !window.Plotly) return;
  const text = source.textContent + document.documentElement.dataset.theme;
  if (box.drawn === text) return;
  box.drawn = text;
  const style = tokens();
  const figure = resolve(JSON.parse(source.textContent), style);
  const config = {
    responsive: true,
    displaylogo: false,
    scrollZoom: box.dataset.zoom === "yes",
    displayModeBar: box.dataset.zoom === "yes",
    modeBarButtons: BUTTONS,
  };
  window.Plotly.react(box, figure.data, layout(figure.layout || {}, style), config).then(() =>
    box.dispatchEvent(new CustomEvent("drawn", { bubbles: true })),
  );
}

let loading = null;

/* A page on which a chart only may come has Plotly's address in place of Plotly, which weighs more than all else. */
function loaded() {
  const named = document.querySelector('meta[name="plotly"]');
  if (!named) return;
  loading ??= new Promise((resolve) => {
    const script = document.createElement("script");
    script.onload = () => resolve(true);
    script.onerror = () => resolve((loading = null)); // the next chart asks again
    script.src = named.content;
    document.head.append(script);
  }).then((there) => there && all());
}

export function all() {
  const boxes = document.querySelectorAll("[data-chart]");
  if (boxes.length && !window.Plotly) return loaded();
  for (const box of boxes) draw(box);
}

/* A chart has the width that it was drawn with: paper is narrower than most screens, and half of it beside a table. */
const PAPER = 640,
  BESIDE = 250;

function fit(width) {
  if (!window.Plotly) return;
  for (const box of document.querySelectorAll(".chart.js-plotly-plot")) window.Plotly.relayout(box, width(box));
}

addEventListener("beforeprint", () => fit((box) => ({ autosize: false, width: box.closest(".two") ? BESIDE : PAPER })));
addEventListener("afterprint", () => fit(() => ({ autosize: true, width: null })));

all();
document.addEventListener("themechange", all);
document.addEventListener("htmx:afterSettle", all);
