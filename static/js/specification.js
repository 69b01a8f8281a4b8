/* The application's specification on the form: rows are added and taken away, a file is read into the text beside it,
   and nodes of the preview are pinned or excluded. What is chosen stands in the form's own fields and in the address. */

const PLACES = { pins: "id_pins", exclude: "id_exclude" };

function changed(field) {
  field.dispatchEvent(new Event("input", { bubbles: true }));
}

/* As many ranks as the groups that have a name have together. */
function countRanks(form) {
  const rows = [...form.querySelectorAll("[data-rows='group'] .spec-row")];
  const named = rows.filter((row) => row.querySelector("[name$='-group-name']").value.trim());
  if (!named.length) return;
  const counts = named.map((row) => Number(row.querySelector("[name$='-group-count']").value));
  const ranks = document.getElementById("id_ranks");
  const total = String(counts.reduce((sum, count) => sum + count, 0));
  ranks.value = total;
  if (ranks.value !== total) ranks.value = "";
}

function addRow(button) {
  const kind = button.dataset.adds;
  const rows = button.form.querySelector(`[data-rows="${kind}"]`);
  rows.append(button.form.querySelector(`template[id$="-${kind}-row"]`).content.cloneNode(true));
  rows.lastElementChild.querySelector("input").focus();
}

function removeRow(button) {
  const row = button.closest(".spec-row");
  const rows = row.parentElement;
  const adds = rows.closest("form").querySelector(`[data-adds="${rows.dataset.rows}"]`);
  row.remove();
  countRanks(adds.form);
  adds.focus();
  changed(adds.form.querySelector("textarea[name$='-document']"));
}

function words(field) {
  return field.value.split(/[\s,]+/).filter(Boolean);
}

function write(name, list) {
  const field = document.getElementById(PLACES[name]);
  field.value = [...new Set(list)].join(" ");
  const address = new URL(location);
  if (field.value) address.searchParams.set(name, field.value);
  else address.searchParams.delete(name);
  history.replaceState(history.state, "", address);
  changed(field);
}

function pin(button) {
  const { node, ranks } = button.dataset;
  const field = document.getElementById(PLACES.pins);
  const own = ranks.split(" ").map((rank) => `${rank}=${node}`);
  const others = words(field).filter((word) => !ranks.split(" ").includes(word.split("=")[0]));
  write("pins", button.getAttribute("aria-pressed") === "true" ? others : [...others, ...own]);
}

/* As many ranks as that, on as many nodes as they need. */
function takeRanks(count) {
  const ranks = document.getElementById("id_ranks");
  ranks.value = count;
  for (const name of ["id_node_count", "id_ranks_per_node"]) document.getElementById(name).value = "";
  changed(ranks);
}

function exclude(button) {
  const { node } = button.dataset;
  const list = words(document.getElementById(PLACES.exclude));
  const pins = words(document.getElementById(PLACES.pins));
  const left = pins.filter((word) => word.split("=").at(-1) !== node);
  if (left.length < pins.length) write("pins", left);
  write("exclude", list.includes(node) ? list.filter((name) => name !== node) : [...list, node]);
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-adds], [data-removes], [data-pins], [data-excludes], [data-takes]");
  if (!button) return;
  if ("adds" in button.dataset) addRow(button);
  else if ("removes" in button.dataset) removeRow(button);
  else if ("pins" in button.dataset) pin(button);
  else if ("takes" in button.dataset) takeRanks(button.dataset.takes);
  else exclude(button);
});

/* From a node of the picture to its buttons. */
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-to]");
  if (!link) return;
  event.preventDefault();
  document.getElementById(link.dataset.to)?.focus();
});

document.addEventListener("change", async (event) => {
  const { reads } = event.target.dataset ?? {};
  if (!reads || !event.target.files.length) return;
  const field = document.getElementById(reads);
  field.value = await event.target.files[0].text();
  event.target.value = "";
  changed(field);
});

document.addEventListener("input", (event) => {
  if (/-group-(name|count)$/.test(event.target.name)) countRanks(event.target.form);
});
