/* Security keys: a form with `data-key` lets the browser ask a key (create: a new one, get: one that is set up) for what
   stands in #key-options, puts the answer into its field `credential` and goes on. allauth's webauthnJSON turns the
   bytes into text and back. */

const SAYS = {
  NotAllowedError: "The key did not answer, or was refused. Try again.",
  InvalidStateError: "This key is set up already. Use another one.",
  SecurityError: "This browser lets no key speak at this address: it needs https and a name.",
  NotSupportedError: "This key cannot do what the portal needs.",
};

const form = document.querySelector("[data-key]");
const place = form?.querySelector("[data-key-error]");

function say(text) {
  place.textContent = text;
  place.hidden = !text;
}

async function ask() {
  const options = JSON.parse(document.getElementById("key-options").textContent);
  const answer = await window.webauthnJSON[form.dataset.key](options);
  form.elements.credential.value = JSON.stringify(answer);
  HTMLFormElement.prototype.submit.call(form);
}

form?.addEventListener("submit", async (event) => {
  event.preventDefault();
  if (!window.PublicKeyCredential) return say("This browser knows no security keys. Use a code.");
  const button = form.querySelector("button.main");
  say("");
  button.disabled = true;
  try {
    await ask();
  } catch (error) {
    say(SAYS[error.name] ?? `The key did not work: ${error.message}`);
    button.disabled = false;
  }
});
