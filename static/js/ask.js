/* A button that asks before it acts: `data-ask` is the question and names the object, `data-effect` says what happens
   then. Without scripts it acts at once. */

let waiting = null;

const title = document.createElement("h2");
title.id = "ask-title";
const effect = document.createElement("p");
const back = document.createElement("button");
back.type = "button";
back.textContent = "Go back";
const sure = document.createElement("button");
sure.type = "button";
sure.className = "stop main";
const actions = document.createElement("p");
actions.className = "actions";
actions.append(back, sure);
const dialog = document.createElement("dialog");
dialog.id = "ask";
dialog.setAttribute("aria-labelledby", title.id);
dialog.append(title, effect, actions);

back.addEventListener("click", () => dialog.close());
sure.addEventListener("click", () => {
  dialog.close();
  waiting?.form?.requestSubmit(waiting);
});

document.addEventListener("click", (event) => {
  const button = event.target.closest?.("button[data-ask]");
  if (!button) return;
  event.preventDefault();
  waiting = button;
  title.textContent = button.dataset.ask;
  effect.textContent = button.dataset.effect ?? "";
  sure.textContent = button.dataset.ask.replace(/\?$/, "");
  document.body.append(dialog);
  dialog.showModal();
});
