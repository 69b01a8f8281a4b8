/* An htmx swap that changes only what differs: scroll, focus, selection, open menus and typed text survive.
   Children are matched by id, else by place and tag. `data-keep` leaves an element's content alone. */

const key = (node) => (node.nodeType === Node.ELEMENT_NODE && node.id) || null;
const alike = (a, b) => a.nodeType === b.nodeType && a.nodeName === b.nodeName && key(a) === key(b);
const owned = (element, name) =>
  name === "data-more" ||
  (name === "open" && /^(DETAILS|DIALOG)$/.test(element.nodeName)) ||
  (/^(value|checked|selected)$/.test(name) && element === document.activeElement);

function attributes(old, fresh) {
  for (const { name } of [...old.attributes])
    if (!fresh.hasAttribute(name) && !owned(old, name)) old.removeAttribute(name);
  for (const { name, value } of fresh.attributes)
    if (old.getAttribute(name) !== value && !owned(old, name)) old.setAttribute(name, value);
}

export function morph(old, fresh) {
  if (old.nodeType !== Node.ELEMENT_NODE) {
    if (old.nodeValue !== fresh.nodeValue) old.nodeValue = fresh.nodeValue;
    return;
  }
  if (old.isEqualNode(fresh)) return;
  if (old.hasAttribute("data-keep")) return;
  attributes(old, fresh);
  children(old, fresh);
}

/* Before `place`, and a dialog that is open stays open above the page, with the focus where it was. */
function move(parent, node, place) {
  if (parent.moveBefore) {
    parent.moveBefore(node, place);
    return;
  }
  const open = [node, ...node.querySelectorAll("dialog")].filter((each) => each.matches("dialog:modal"));
  const focused = document.activeElement;
  parent.insertBefore(node, place);
  for (const dialog of open) {
    dialog.removeAttribute("open");
    dialog.showModal();
    focused.focus();
  }
}

export function children(old, fresh) {
  const named = new Map([...old.children].filter(key).map((child) => [child.id, child]));
  let place = old.firstChild;
  for (const wanted of [...fresh.childNodes]) {
    const same = key(wanted) && named.get(wanted.id);
    if (same && same !== place) move(old, same, place);
    const current = same || place;
    if (current && alike(current, wanted)) {
      morph(current, wanted);
      place = current.nextSibling;
    } else {
      old.insertBefore(wanted, place);
    }
  }
  while (place) {
    const next = place.nextSibling;
    place.remove();
    place = next;
  }
}

window.htmx?.defineExtension("morph", {
  isInlineSwap: (style) => style === "morph",
  handleSwap: (style, target, fragment) => {
    if (style !== "morph") return false;
    children(target, fragment);
    return [...target.children];
  },
});
