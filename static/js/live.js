/* Live parts: polls through htmx, slower on hidden pages, paused on request, over when the server says so.
   The mark beside the title says which of these it is; when the server stops it says so and tries again. */

const LABELS = {
  live: ["●", "live"],
  stale: ["▲", "stale, retrying"],
  paused: ["❚❚", "paused"],
  ended: ["■", "ended"],
  past: ["◷", "as it was"],
};
const SLOWER_HIDDEN = 10;
const LONGEST = 10_000;

/* What htmx tells as errors of a request without an answer, or with that of an error: the page says so, by the mark of a
   region that asks again by itself, else beside what was asked for (asked.js). */
const TOLD = new Set(["htmx:afterRequest", "htmx:sendError", "htmx:timeout"]);

// htmx prints every event with an error, and asks its logger before.
if (window.htmx) {
  window.htmx.logger = (element, name, detail) => {
    const isTold = TOLD.has(name) || (name === "htmx:responseError" && !element.matches?.("[data-live]"));
    if (isTold) detail.error = undefined;
  };
}

for (const region of document.querySelectorAll("[data-live]")) follow(region);

function follow(region) {
  const every = Number(region.dataset.live);
  const mark = document.querySelector("[data-live-mark]");
  const pause = document.querySelector("[data-live-pause]");
  let timer = 0,
    failures = 0,
    paused = false,
    busy = false;

  const over = () => region.querySelector("[data-final]") !== null;
  const say = (state) => {
    if (!mark || mark.dataset.state === state) return;
    mark.dataset.state = state;
    const [sign, label] = LABELS[state];
    mark.querySelector(".mark").textContent = sign;
    mark.querySelector(".live-label").textContent = label;
  };
  const later = () => {
    clearTimeout(timer);
    if (over()) {
      say("ended");
      if (pause) pause.hidden = true;
      return;
    }
    if (region.querySelector("[data-past]")) return say("past"); // what was does not change
    if (paused) return say("paused");
    // A job that has just taken a step is about to take the next: the server then asks for a quicker pace.
    const quick = Number(region.querySelector("[data-pace]")?.dataset.pace) || every;
    const pace = Math.min((failures ? every : quick) * 2 ** failures, Math.max(every, LONGEST));
    timer = setTimeout(ask, document.hidden ? every * SLOWER_HIDDEN : pace);
  };
  const ask = () => {
    if (busy) return;
    window.htmx.trigger(region, "poll");
    if (!busy) later(); // nobody asked: htmx takes no notice of this region before all scripts of the page are there
  };

  region.addEventListener("htmx:beforeRequest", (event) => {
    if (event.target === region) busy = true;
  });
  region.addEventListener("htmx:beforeSwap", (event) => {
    // A session that ended answers with the sign-in page: that does not belong here.
    const asked = event.detail.requestConfig.path.split("?")[0];
    const answered = new URL(event.detail.xhr.responseURL || asked, location).pathname;
    if (event.target === region && asked !== answered) {
      event.detail.shouldSwap = false;
      failures += 1;
      say("stale");
    }
  });
  region.addEventListener("htmx:afterRequest", (event) => {
    if (event.target !== region) return;
    busy = false;
    if (event.detail.successful) {
      failures = 0;
      say("live");
    } else {
      failures = Math.min(failures + 1, 3);
      say("stale");
    }
    later();
  });
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden && !paused && !over() && !region.querySelector("[data-past]")) ask();
  });
  pause?.addEventListener("click", () => {
    paused = !paused;
    pause.setAttribute("aria-pressed", String(paused));
    pause.textContent = paused ? "Resume" : "Pause";
    if (paused) later();
    else {
      say("live");
      ask();
    }
  });
  later();
}
