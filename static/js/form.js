/* Forms: a second click does nothing, and fields that belong to one choice show only with it. */

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.method !== "post" || event.defaultPrevented) return;
  if (event.submitter?.matches("[data-stays]")) return; // its answer is a file, and the page stays
  if (form.dataset.sent) {
    event.preventDefault();
    return;
  }
  form.dataset.sent = "yes";
  for (const button of form.querySelectorAll("button:not([type=button])")) button.setAttribute("aria-disabled", "true");
});

// The address of a list has the filters that are on, and no others; without any it still is no saved view.
document.addEventListener("formdata", (event) => {
  if (!event.target.matches("[data-sparse]")) return;
  for (const [name, value] of [...event.formData]) if (value === "") event.formData.delete(name);
  if ([...event.formData].length === 0) event.formData.append("view", "all");
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
// What was chosen before this ran: the page may be quicker to look at than to work.
for (const choice of document.querySelectorAll("select[data-sends]")) {
  const first = [...choice.options].find((option) => option.defaultSelected) ?? choice.options[0];
  if (choice.selectedOptions[0] !== first) choice.form.requestSubmit();
}

/* The preview says which fields need another value: those that the person has touched are marked at once, with the
   words that a submission would bring. */
const touched = new Set();
document.addEventListener("input", (event) => {
  if (event.target.form?.id === "submit-form") touched.add(event.target.id);
});
document.addEventListener("change", (event) => {
  if (event.target.form?.id === "submit-form") touched.add(event.target.id);
});

function mark(field, words) {
  const place = `${field.id}_live_error`;
  let note = document.getElementById(place);
  if (!words) {
    if (note) {
      note.remove();
      field.removeAttribute("aria-invalid");
    }
    return;
  }
  field.parentElement.querySelector("ul.errors")?.remove(); // what the last submission said is older
  field.setAttribute("aria-invalid", "true");
  if (!note) {
    note = Object.assign(document.createElement("p"), { id: place, className: "errors" });
    field.after(note);
  }
  if (note.textContent !== words) note.textContent = words;
}

document.addEventListener("htmx:afterSwap", (event) => {
  if (event.target.id !== "preview") return;
  const fits = event.target.querySelector("[data-fits-skeleton]");
  const choice = document.getElementById("skeleton-field");
  if (fits && choice) choice.hidden = fits.dataset.fitsSkeleton === "no";
  const jobs = fits?.dataset.jobs ?? "1";
  const send = document.getElementById("submit-button");
  if (send) send.textContent = jobs === "1" ? "Submit job" : `Submit ${jobs} jobs`;
  const said = JSON.parse(document.getElementById("field-errors")?.textContent || "{}");
  for (const field of document.querySelectorAll("#submit-form [id]:is(input, select, textarea)")) {
    if (touched.has(field.id)) mark(field, said[field.id]);
  }
});

const wrong = document.querySelector("form [aria-invalid='true']");
if (wrong) wrong.focus();
