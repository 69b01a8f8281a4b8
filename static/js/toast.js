/* Messages: good news goes by itself after a while, errors stay until they are dismissed. */

const STAY = 12_000;

for (const toast of document.querySelectorAll(".toast")) {
  toast.querySelector("button")?.addEventListener("click", () => toast.remove());
  if (!toast.matches(".error, .warning"))
    setTimeout(() => {
      if (!toast.matches(":hover, :focus-within")) toast.remove();
    }, STAY);
}
