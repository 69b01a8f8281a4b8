/* Forms: a second click does nothing, and fields that belong to one choice show only with it. */

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.method !== "post" || event.defaultPrevented) return;
  if (form.dataset.sent) { event.preventDefault(); return; }
  form.dataset.sent = "yes";
  for (const button of form.querySelectorAll("button:not([type=button])")) button.setAttribute("aria-disabled", "true");
});

// Back in the history, a form may be sent again: its request key still makes one job of it.
addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[data-sent]")) {
    delete form.dataset.sent;
    for (const button of form.querySelectorAll("[aria-disabled]")) button.removeAttribute("aria-disabled");
  }
});

function reveal() {
  for (const part of document.querySelectorAll("[data-when]")) {
    const [name, values] = part.dataset.when.split("=");
    const field = document.querySelector(`[name="${name}"]`);
    part.hidden = field ? !values.split(",").includes(field.value) : false;
  }
}

document.addEventListener("change", (event) => {
  reveal();
  if (event.target.matches("[data-sends]")) event.target.form.requestSubmit();
});
reveal();

const wrong = document.querySelector("form [aria-invalid='true']");
if (wrong) wrong.focus();
