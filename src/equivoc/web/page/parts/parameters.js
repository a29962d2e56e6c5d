// Controls for a technique's parameters, made from the catalogue's description of each.

import { h } from "../core/elements.js";
import { chips, selectField, slider, textField } from "./controls.js";
import { compose, joined, parse, unjoined } from "./notation.js";

const STRONGER = { more: "More protects more.", less: "Less protects more." };

/** `change` is called with the new notation. */
export function parameterControls(technique, notation, change) {
  const { values } = parse(notation);
  const set = (name, value) => change(compose(technique, { ...values, [name]: value }));
  const main = technique.parameters.filter((each) => each.required || (each.values && each.default !== null));
  const rest = technique.parameters.filter((each) => !main.includes(each));
  const shown = (each) => control(technique, each, values[each.name], (value) => set(each.name, value));
  return h("div", { class: "parameters", key: `parameters-${technique.name}` },
    technique.parameters.length ? main.map(shown) : h("p", { class: "soft" }, "This technique has no parameters."),
    rest.length ? h("details", { class: "more" }, h("summary", {}, "More parameters"), rest.map(shown)) : null);
}

function control(technique, parameter, value, set) {
  const name = `${technique.name}-${parameter.name}`;
  const label = parameter.name;
  const hint = [sentence(parameter.meaning), STRONGER[parameter.stronger], parameter.required || parameter.values ? null : "Empty: the technique's own choice."].filter(Boolean).join(" ");
  const now = value ?? parameter.default;
  if (parameter.kind === "number" && parameter.values?.length && (now ?? null) !== null)
    return slider(name, label, { value: Number(now), values: parameter.values, move: set, hint, unit: parameter.unit && !["number", "value", "width"].includes(parameter.unit) ? parameter.unit : "" });
  if (parameter.kind === "choice")
    return selectField(name, label, { value: now ?? "", choices: [...(parameter.required ? [] : [["", "the technique's own choice"]]), ...parameter.choices.map((each) => [String(each), String(each)])], change: set, hint });
  if (parameter.kind === "flag")
    return selectField(name, label, { value: String(now ?? ""), choices: [["", "the technique's own choice"], ["true", "yes"], ["false", "no"]], change: set, hint });
  if (parameter.kind === "columns" && parameter.choices?.length)
    return chips(label, { name, names: parameter.choices, chosen: unjoined(value ?? ""), change: (names) => set(joined(names)), hint });
  return textField(name, label, { value: value ?? "", change: (text) => set(text), hint, placeholder: now ?? "" });
}

const sentence = (text) => (text ? `${text[0].toUpperCase()}${text.slice(1).replace(/\.$/, "")}.` : "");
