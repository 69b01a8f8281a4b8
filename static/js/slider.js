/* The slider over history: the picture and the tables of the moment, which is in the address as `at`. */

const range = document.querySelector("[data-slider]");
const region = document.querySelector("[data-live]");
const WAIT = 200; // ms: whoever drags asks for the places at which they rest
const loaded = Date.now();

const iso = (seconds) => new Date(seconds * 1000).toISOString().slice(0, 19) + "Z";

if (range && region) follow();

function follow() {
  const output = document.getElementById(range.getAttribute("aria-describedby"));
  const back = document.querySelector("[data-slider-now]");
  const step = Number(range.dataset.step),
    live = range.dataset.endsNow === "yes";
  let timer = 0;

  const place = () => Number(range.value);
  const isNow = () => live && place() >= Number(range.max);
  // A range that ends now moves on while the page is open.
  const moment = () =>
    Number(range.dataset.begin) + place() * step + (live ? Math.floor((Date.now() - loaded) / 1000 / step) * step : 0);

  function show() {
    const text = isNow() ? "now" : iso(moment()).replace("T", " ").replace("Z", " UTC");
    output.textContent = text;
    range.setAttribute("aria-valuetext", text);
    if (back) back.hidden = isNow();
  }

  function go() {
    const here = new URL(location);
    if (isNow()) here.searchParams.delete("at");
    else here.searchParams.set("at", iso(moment()));
    for (const name of ["page", "nodes"]) here.searchParams.delete(name);
    history.replaceState(history.state, "", here);
    window.htmx.trigger(region, "poll");
  }

  function turn(now) {
    show();
    clearTimeout(timer);
    timer = setTimeout(go, now ? 0 : WAIT);
  }

  range.addEventListener("input", () => turn(false));
  back?.addEventListener("click", () => {
    range.value = range.max;
    turn(true);
  });
  // Whatever asks for the live part asks for the moment in the address.
  region.addEventListener("htmx:configRequest", (event) => {
    if (event.target === region) event.detail.path = location.pathname + location.search;
  });
}
