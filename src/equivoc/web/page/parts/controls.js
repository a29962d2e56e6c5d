// Labelled controls: every one has a visible label, and a hint that assistive technology reads with it.

import { h, parts } from "../core/elements.js";

let numbers = 0;
const ids = new Map();
const idOf = (name) => ids.get(name) ?? (ids.set(name, `f${(numbers += 1)}`), ids.get(name));

/** A label over a control. `make` gets the attributes that connect them. */
export function field(name, label, make, { hint, wide } = {}) {
  const id = idOf(name);
  const hintId = hint ? `${id}-hint` : null;
  return h("div", { class: wide ? "field wide-field" : "field", key: `field-${name}` },
    h("label", { for: id }, label),
    make({ id, "aria-describedby": hintId, "data-name": name }),
    hint ? h("p", { class: "hint", id: hintId }, hint) : null);
}

export function textField(name, label, { value, change, hint, placeholder, type = "text", wide, ...rest }) {
  return field(name, label, (common) =>
    h("input", { ...common, ...rest, type, value, placeholder, autocomplete: "off", spellcheck: "false", on: { change: (event) => change(event.currentTarget.value) } }), { hint, wide });
}

export function numberField(name, label, { value, change, hint, low, high, step = "any" }) {
  return field(name, label, (common) =>
    h("input", { ...common, type: "number", inputmode: "decimal", value: value ?? "", min: low, max: high, step,
      on: { change: (event) => { const typed = event.currentTarget.value; change(typed === "" ? null : Number(typed)); } } }), { hint });
}

export function selectField(name, label, { value, choices, change, hint }) {
  return field(name, label, (common) => select(common, { value, choices, change }), { hint });
}

export function select(options, { value, choices, change }) {
  return h("select", { ...options, value, on: { change: (event) => change(event.currentTarget.value) } },
    choices.map((choice) => {
      const [text, label, disabled] = Array.isArray(choice) ? choice : [choice, choice];
      return h("option", { value: text, key: text, disabled, selected: String(text) === String(value) }, label);
    }));
}

/** A slider with its number beside it. `move` is called while it moves, with the number. */
export function slider(name, label, { value, low, high, step, values, move, unit, hint }) {
  const id = idOf(name);
  const hintId = `${id}-hint`;
  const at = values ? nearest(values, value) : value;
  const shown = unit ? `${value} ${unit}` : `${value}`;
  return h("div", { class: "field slider", key: `field-${name}` },
    h("label", { for: id }, label),
    h("div", { class: "slider-row" },
      h("input", { id, "data-name": name, type: "range", min: values ? 0 : low, max: values ? values.length - 1 : high, step: values ? 1 : step, value: at ?? 0,
        "aria-valuetext": shown, "aria-describedby": hint ? hintId : null,
        on: { input: (event) => { const moved = Number(event.currentTarget.value); move(values ? values[moved] : moved); } } }),
      h("input", { class: "slider-number", type: "number", inputmode: "decimal", step: "any", value: value ?? "", "aria-label": `${label}${unit ? `, ${unit}` : ""}, as a number`, "data-name": `${name}-number`,
        on: { change: (event) => { if (event.currentTarget.value !== "") move(Number(event.currentTarget.value)); } } }),
      unit ? h("span", { class: "unit" }, unit) : null),
    hint ? h("p", { class: "hint", id: hintId }, hint) : null);
}

function nearest(values, value) {
  let best = 0;
  values.forEach((each, at) => { if (Math.abs(each - value) < Math.abs(values[best] - value)) best = at; });
  return best;
}

/** Check boxes that look like chips. */
export function chips(legend, { names, chosen, change, hint, name }) {
  return h("fieldset", { class: "chips", key: `chips-${name}` }, h("legend", {}, legend),
    h("div", { class: "chip-row" }, names.map((each) =>
      h("label", { class: "chip", key: each, title: each }, h("input", { type: "checkbox", "data-name": `${name}-${each}`, checked: chosen.includes(each),
        on: { change: (event) => change(names.filter((other) => (other === each ? event.currentTarget.checked : chosen.includes(other)))) } }),
        h("span", {}, each)))),
    hint ? h("p", { class: "hint" }, hint) : null);
}

export function button(text, act, { kind = "", disabled = false, label, name } = {}) {
  return h("button", { type: "button", class: `button ${kind}`.trim(), disabled, "aria-label": label, "data-name": name, key: name ? `b-${name}` : undefined, on: { click: act } }, text);
}

/** A button that opens the system's dialogue for files; `act` gets the chosen one. */
export function fileButton(text, act, { kind = "", accept, name }) {
  return h("span", { key: `file-${name}` },
    button(text, (event) => event.currentTarget.nextElementSibling.click(), { kind, name }),
    h("input", { type: "file", hidden: true, accept, on: { change: (event) => { const [file] = event.currentTarget.files; event.currentTarget.value = ""; if (file) act(file); } } }));
}

/** A group with a heading. */
export function card(title, ...children) {
  const options = typeof title === "object" ? title : { title };
  return h("section", { class: `card ${options.class ?? ""}`.trim(), key: `card-${options.title}`, id: options.id },
    h("h2", {}, options.title), options.lead ? h("p", { class: "lead" }, options.lead) : null, parts(children));
}

export const note = (kind, ...children) => h("p", { class: `note ${kind}` }, parts(children));
