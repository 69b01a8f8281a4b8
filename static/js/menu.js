/* On a narrow screen the rail has a button that shows the rest of it. */

const button = document.querySelector("[data-menu]");
const isOpen = () => button.getAttribute("aria-expanded") === "true";
const show = (open) => button.setAttribute("aria-expanded", String(open));

if (button) {
  button.addEventListener("click", () => show(!isOpen()));
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !isOpen()) return;
    show(false);
    if (document.getElementById("rail-rest").contains(document.activeElement)) button.focus();
  });
}
