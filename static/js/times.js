/* Relative times and running clocks keep moving between two answers of the server. */

const STEPS = [
  [86400 * 2, 86400, "d"],
  [3600 * 2, 3600, "h"],
  [120, 60, "min"],
  [0, 1, "s"],
];

export function ago(seconds, now = "now") {
  const apart = Math.abs(seconds);
  if (apart < 5) return now;
  const [, size, unit] = STEPS.find(([from]) => apart >= from);
  const amount = `${Math.floor(apart / size)} ${unit}`;
  return seconds > 0 ? `${amount} ago` : `in ${amount}`;
}

export function length(seconds) {
  const s = Math.max(0, Math.floor(seconds));
  if (s < 60) return `${s} s`;
  if (s < 3600) return two(`${Math.floor(s / 60)} min`, s % 60, "s");
  return two(`${Math.floor(s / 3600)} h`, Math.floor((s % 3600) / 60), "min");
}

function two(large, rest, unit) {
  return rest ? `${large} ${rest} ${unit}` : large;
}

function put(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

function tick() {
  const now = Date.now();
  for (const time of document.querySelectorAll("time[data-ago]"))
    put(time, ago((now - Date.parse(time.dateTime)) / 1000, time.dataset.ago || "now"));
  // A clock that went on while nothing new is heard would tell of a state that may be over.
  if (document.querySelector('[data-live-mark][data-state="stale"], [data-live-mark][data-state="paused"]')) return;
  for (const clock of document.querySelectorAll("[data-since]"))
    put(clock, length((now - Date.parse(clock.dataset.since)) / 1000));
}

tick();
setInterval(tick, 1000);
