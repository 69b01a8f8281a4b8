/* The addresses of the REST API, by Swagger UI in the portal's own look. */

const box = document.getElementById("swagger-ui");

/* The page has the title already; and a link inside the button that opens an address is one too many for a keyboard.
   A field for what is sent has no name. */
const plain = ({ React }) => {
  groupInsteadOfMain(React);
  return { wrapComponents: components(React) };
};

const components = (React) => ({
  InfoContainer: () => () => null,
  DeepLink:
    () =>
    ({ text }) =>
      React.createElement("span", null, text),
  TextArea: (Original) => (properties) =>
    React.createElement(Original, { "aria-label": "What is sent", ...properties }),
});

function withToken(request) {
  const foreign = new URL(request.url, location).origin !== location.origin;
  if (!foreign && !["GET", undefined].includes(request.method)) request.headers["X-CSRFToken"] = box.dataset.csrfValue;
  return request;
}

function follow() {
  document.documentElement.classList.toggle("dark-mode", document.documentElement.dataset.theme === "dark");
}

/* The page has its main part already: inside it the addresses are a group. */
function groupInsteadOfMain(React) {
  const create = React.createElement;
  React.createElement = (type, properties, ...children) =>
    type === "main"
      ? create("div", { ...properties, role: "group", "aria-label": "Addresses" }, ...children)
      : create(type, properties, ...children);
}

follow();
document.addEventListener("themechange", follow);
window.SwaggerUIBundle({
  url: box.dataset.schema,
  domNode: box,
  deepLinking: true,
  plugins: [plain],
  presets: [window.SwaggerUIBundle.presets.apis],
  layout: "BaseLayout",
  requestInterceptor: withToken,
});
