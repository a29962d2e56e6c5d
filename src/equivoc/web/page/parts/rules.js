// The requirements as rules that can be edited: a figure, its limit, and whether it is met, in words.

import { h, parts } from "../core/elements.js";
import { figure } from "../core/numbers.js";
import { button, select } from "./controls.js";

const RULE = /^\s*(\w+)\s*(?:\(\s*([^)]*)\s*\))?\s*(?:@\s*(\w+))?\s*(<=|>=)\s*([-+\d.eE]+)\s*$/;
const OVER = [["mean", "on average"], ["p95", "for 95 % of people"], ["worst", "for everybody"]];

export function parseRule(text) {
  const found = RULE.exec(text);
  if (!found) return null;
  const [, name, eps, over, comparison, limit] = found;
  return { name, eps: eps ? Number(eps) : null, over: over ?? "mean", comparison, limit: Number(limit) };
}

export function ruleText({ name, eps, over, comparison, limit }) {
  return `${name}${eps === null || eps === undefined ? "" : `(${eps})`}${over && over !== "mean" ? `@${over}` : ""} ${comparison} ${limit}`;
}

/** `rules` are texts, `now` gives those of the moment (two changes can come before the screen follows), `outcomes` are the
    judged rows in the same order, `figures` the catalogue's. */
export function rulesEditor({ rules, now, outcomes, figures, eps, change }) {
  const set = (at, text) => change(now().map((rule, place) => (place === at ? text : rule)));
  const add = () => {
    const free = suggestions(figures, eps).find((text) => !now().includes(text));
    change([...now(), free ?? "h0 >= 1"]);
  };
  return h("div", { class: "rules" },
    rules.length ? null : h("p", { class: "soft" }, "No rule yet. A rule says what is acceptable, for example that she is certain and right about nobody."),
    h("ul", { class: "rule-list", "aria-label": "Rules" }, rules.map((text, at) =>
      rule({ text, number: at + 1, outcome: outcomes?.[at], figures, eps, latest: () => parseRule(now()[at] ?? text), set: (fresh) => set(at, fresh), drop: () => change(now().filter((_, place) => place !== at)) }))),
    button("Add a rule", add, { name: "add-rule" }));
}

function rule({ text, number, outcome, figures, eps, latest, set, drop }) {
  const read = parseRule(text);
  const about = figures.find((each) => each.name === read?.name);
  const say = (part) => set(ruleText({ ...latest(), ...part }));
  const label = (what) => `Rule ${number}: ${what}`;
  const choose = (name) => {
    const next = figures.find((each) => each.name === name);
    set(ruleText({ name, eps: next.has_eps ? read?.eps ?? eps : null, over: next.per_person ? read?.over : "mean", comparison: next.safer === "higher" ? ">=" : "<=", limit: sensible(next) }));
  };
  return h("li", { class: `rule ${outcome ? (outcome.meets ? "met" : "missed") : ""}`, key: `rule-${number}` },
    h("div", { class: "rule-row" },
      select({ "aria-label": label("figure"), "data-name": `rule-${number}-figure` }, { value: read?.name ?? "", choices: figures.map((each) => [each.name, `${each.name} – ${each.meaning}`]), change: choose }),
      about?.has_eps ? h("span", { class: "inline" }, "ε ", numberInput(label("tolerance ε"), read.eps, (value) => say({ eps: value }), `rule-${number}-eps`)) : null,
      about?.per_person ? select({ "aria-label": label("for whom") }, { value: read.over, choices: OVER, change: (over) => say({ over }) }) : null,
      read ? select({ "aria-label": label("comparison") }, { value: read.comparison, choices: [["<=", "at most"], [">=", "at least"]], change: (comparison) => say({ comparison }) }) : null,
      read ? numberInput(label("limit"), read.limit, (value) => say({ limit: value ?? 0 }), `rule-${number}-limit`) : h("code", {}, text),
      about ? h("span", { class: "unit" }, about.unit) : null,
      button("Remove", drop, { kind: "quiet", label: `Remove rule ${number}: ${text}` })),
    h("p", { class: "rule-outcome", role: "status" }, told(outcome, about)));
}

function told(outcome, about) {
  const safer = about ? ` ${about.safer === "higher" ? "Higher" : "Lower"} is safer.` : "";
  if (!outcome) return `Being judged.${safer}`;
  const how = outcome.value === null || outcome.value === undefined ? outcome.reason
    : outcome.meets ? `it is ${figure(outcome.value)}, ${outcome.limit === outcome.judged ? "exactly the limit" : `${figure(Math.abs(outcome.limit - outcome.judged))} from the limit`}.`
      : `it is ${figure(outcome.value)}, ${figure(outcome.missed_by)} ${outcome.comparison === "<=" ? "too much" : "too little"}.`;
  return parts(h("strong", { class: "state" }, outcome.meets ? "✓ Met" : "✕ Not met"), `: ${how}${safer}`);
}

const numberInput = (label, value, change, name) =>
  h("input", { type: "number", step: "any", inputmode: "decimal", "aria-label": label, "data-name": name, value: value ?? "", on: { change: (event) => change(event.currentTarget.value === "" ? null : Number(event.currentTarget.value)) } });

const sensible = (about) => (about.name === "k" ? 3 : about.name === "l" ? 2 : about.unit === "bits" ? 1 : about.high === 1 ? 0.5 : about.name === "area" ? 1000 : 0);

function suggestions(figures, eps) {
  const has = (name) => figures.some((each) => each.name === name);
  return ["certain_right <= 0", `true_hit(${eps}) <= 0.5`, "h0 >= 1", "k >= 3"].filter((text) => has(parseRule(text).name));
}
