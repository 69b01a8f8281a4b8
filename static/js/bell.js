/* How many notices one has not read, beside their entry in the rail; asked for while the page is looked at. */

const EVERY = 20_000;

const bell = document.querySelector("[data-bell]");
if (bell) later(bell);

function later(bell) {
  setTimeout(() => ask(bell), EVERY);
}

async function ask(bell) {
  if (document.hidden) return later(bell);
  try {
    const answer = await fetch(bell.dataset.bell, { headers: { Accept: "application/json" } });
    if (answer.ok) {
      const { unread } = await answer.json();
      if (unread === null) return; // the session has ended
      show(bell, unread);
    }
  } catch {
    // the portal does not answer now; the page says so elsewhere
  }
  later(bell);
}

function show(bell, unread) {
  bell.hidden = unread === 0;
  bell.querySelector("[data-count]").textContent = unread > 99 ? "99+" : String(unread);
}
