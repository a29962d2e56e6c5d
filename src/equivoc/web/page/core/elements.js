// Builds elements. Text is always set as text, so a value of the data can never become markup.

const SVG = "http://www.w3.org/2000/svg";

/** An HTML element: h("p", {class: "soft", on: {click: f}}, "text", other, [more]). */
export function h(tag, options = {}, ...children) {
  return filled(document.createElement(tag), options, children);
}

/** An SVG element. */
export function svg(tag, options = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), options, children);
}

/** Several parts without an element around them; empty ones are left out. */
export function parts(...children) {
  return children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false && child !== "");
}

function filled(element, options, children) {
  for (const [name, value] of Object.entries(options)) {
    if (name === "on") for (const [type, act] of Object.entries(value)) listen(element, type, act);
    else if (name === "key") element.key = String(value);
    else if (name === "kept") element.kept = String(value);
    else if (name === "value" && "value" in element && element.tagName !== "PROGRESS") element.wanted = { ...element.wanted, value: String(value ?? "") };
    else if (name === "checked") element.wanted = { ...element.wanted, checked: Boolean(value) };
    else if (name === "style") for (const [rule, text] of Object.entries(value)) element.style.setProperty(rule, text);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, String(value));
  }
  element.append(...parts(children).map((child) => (child instanceof Node ? child : document.createTextNode(String(child)))));
  if (element.wanted) Object.assign(element, element.wanted); // after the children: the options of a select
  return element;
}

/** Each element has one function for an event; updating in place replaces it. */
export function listen(element, type, act) {
  element.acts ??= {};
  if (!(type in element.acts)) element.addEventListener(type, dispatch);
  element.acts[type] = act;
}

function dispatch(event) {
  return event.currentTarget.acts[event.type]?.(event);
}
