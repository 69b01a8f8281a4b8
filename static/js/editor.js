/* A script that is typed or pasted, in the colours of its language, with line numbers. The text area stays the field:
   what is drawn lies behind it, its own letters are clear. Tab leaves the field as everywhere; Enter keeps the indent.
   Without this the field works as well. */

import { languageOf, tokens } from "./script_tokens.js";

const KINDS = {
  comment: "token-comment",
  directive: "token-directive",
  number: "token-number",
  string: "token-string",
  variable: "token-variable",
  word: "token-word",
};
const MOST = 60_000; // characters that are coloured at each keystroke without a delay that people notice

for (const area of document.querySelectorAll("textarea[data-script]")) edit(area);

function edit(area) {
  const box = made("div", "script");
  const numbers = made("div", "script-lines");
  const drawn = made("pre", "script-drawn");
  const state = made("p", "help");
  for (const each of [numbers, drawn]) each.setAttribute("aria-hidden", "true");
  area.wrap = "off";
  area.before(box);
  box.append(numbers, drawn, area);
  box.after(state);

  const kind = document.getElementById(area.dataset.script);
  const follow = () => {
    drawn.scrollTo(area.scrollLeft, area.scrollTop);
    numbers.scrollTo(0, area.scrollTop);
  };
  const draw = () => {
    const text = area.value;
    const language = languageOf(text, kind?.value);
    const count = text.split("\n").length;
    box.classList.toggle("plain", text.length > MOST);
    drawn.replaceChildren(...(text.length > MOST ? [] : tokens(text, language).map(part)), "\n");
    numbers.textContent = Array.from({ length: count }, (_, at) => at + 1).join("\n") + "\n";
    state.textContent = text ? `${language.label}, ${count} ${count === 1 ? "line" : "lines"}.` : "";
    follow();
  };

  area.addEventListener("input", draw);
  area.addEventListener("scroll", follow);
  area.addEventListener("keydown", indent);
  kind?.addEventListener("change", draw);
  addEventListener("pageshow", draw);
  draw();
}

function made(name, kind) {
  const element = document.createElement(name);
  element.className = kind;
  return element;
}

function part([kind, text]) {
  if (!kind) return text;
  const span = made("span", KINDS[kind]);
  span.textContent = text;
  return span;
}

/* A new line begins where the one before does; as an edit of its own, so that undo takes it back. */
function indent(event) {
  if (event.key !== "Enter" || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
  const area = event.target;
  const before = area.value.slice(0, area.selectionStart);
  const blanks = /[^\n]*$/.exec(before)[0].match(/^[ \t]*/)[0];
  if (blanks && document.execCommand("insertText", false, `\n${blanks}`)) event.preventDefault();
}
