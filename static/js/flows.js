/* Flows are picked as two nodes at a time, and written into the field that is sent. */

const form = document.querySelector("[data-flows]");

form?.querySelector("[data-add-flow]")?.addEventListener("click", () => {
  const [source, target] = [...form.querySelectorAll("[data-flow-end]")];
  const missing = [source, target].find((field) => !field.value.trim());
  if (missing) {
    missing.focus();
    return;
  }
  const field = form.elements.flows;
  field.value = `${field.value.trim()} ${source.value.trim()}>${target.value.trim()}`.trim();
  source.value = target.value = "";
  source.focus();
});

// Enter in one of the two ends adds the flow and does not send the question yet.
for (const end of form?.querySelectorAll("[data-flow-end]") || []) {
  end.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    form.querySelector("[data-add-flow]").click();
  });
}
