/* Copy: `data-copy="id"` puts that element's text on the clipboard and says so. */

async function put(text) {
  if (navigator.clipboard && window.isSecureContext) return navigator.clipboard.writeText(text);
  const area = Object.assign(document.createElement("textarea"), { value: text });
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest?.("[data-copy]");
  if (!button) return;
  const words = button.textContent;
  try {
    await put(document.getElementById(button.dataset.copy).textContent);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Select it and press Ctrl-C";
  }
  setTimeout(() => {
    button.textContent = words;
  }, 2000);
});
