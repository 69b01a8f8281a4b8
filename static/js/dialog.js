/* Dialogs: `data-open="id"` opens, `data-close` closes, Esc closes (the browser's own doing). One that is `data-opened`
   is open from the start: what was typed in it was refused. */

document.querySelector("dialog[data-opened]")?.showModal();

document.addEventListener("click", (event) => {
  const opener = event.target.closest?.("[data-open]");
  if (opener) {
    event.preventDefault();
    document.getElementById(opener.dataset.open)?.showModal();
  }
  if (event.target.closest?.("[data-close]")) event.target.closest("dialog")?.close();
  if (event.target.nodeName === "DIALOG") event.target.close();
});
