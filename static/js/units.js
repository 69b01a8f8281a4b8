/* The unit beside a level follows what is watched: `data-unit-of` names the list, #units-of-metrics has the units. */

const units = JSON.parse(document.getElementById("units-of-metrics")?.textContent ?? "{}");

document.addEventListener("change", (event) => {
  for (const unit of document.querySelectorAll("[data-unit-of]"))
    if (unit.dataset.unitOf === event.target.id) unit.textContent = units[event.target.value] ?? "";
});
