// The requirements as rules that can be edited: a figure, its limit, and whether it is met, in words.

import { h, parts } from "../core/elements.js";
import { figure } from "../core/numbers.js";
import { own } from "../core/own.js";
import { button, select } from "./controls.js";

const RULE = /^\s*(\w+)\s*(?:\(\s*([^)]*)\s*\))?\s*(?:@\s*(\w+))?\s*(<=|>=)\s*([-+\d.eE]+)\s*$/;
const FIRST = ["certain_right", "true_hit", "h0", "k"]; // what is proposed first
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
    judged rows in the same order, `figures` the catalogue's, `limits` those that the server proposes (null until then). */
export function rulesEditor({ rules, now, outcomes, figures, limits, change }) {
  const set = (at, text) => change(now().map((rule, place) => (place === at ? text : rule)));
  const add = () => {
    const texts = FIRST.map((name) => figures.find((each) => each.name === name)).filter(Boolean).map((about) => proposed(about, limits)).filter(Boolean);
    change([...now(), texts.find((text) => !now().includes(text)) ?? texts[0]]);
  };
  return h("div", { class: "rules" },
    rules.length ? null : h("p", { class: "soft" }, "No rule yet. A rule says what is acceptable, for example that she is certain and right about nobody."),
    h("ul", { class: "rule-list", "aria-label": "Rules" }, rules.map((text, at) =>
      rule({ text, number: at + 1, outcome: outcomes?.[at], figures, limits, latest: () => parseRule(now()[at] ?? text), set: (fresh) => set(at, fresh), drop: () => change(now().filter((_, place) => place !== at)) }))),
    button("Add a rule", add, { disabled: !limits, name: "add-rule" }));
}

function rule({ text, number, outcome, figures, limits, latest, set, drop }) {
  const read = parseRule(text);
  const about = figures.find((each) => each.name === read?.name);
  const say = (part) => set(ruleText({ ...latest(), ...part }));
  const label = (what) => `Rule ${number}: ${what}`;
  const choose = (name) => {
    const next = figures.find((each) => each.name === name);
    const text = proposed(next, limits, next.per_person ? read?.over : "mean");
    if (text) set(text);
  };
  return h("li", { class: `rule ${outcome ? (outcome.meets ? "met" : "missed") : ""}`, key: `rule-${number}` },
    h("div", { class: "rule-row" },
      select({ "aria-label": label("figure"), "data-name": `rule-${number}-figure` }, { value: read?.name ?? "", choices: figures.map((each) => [each.name, `${each.name} – ${each.meaning}`, Boolean(limits) && !own(limits[each.name], "mean")]), change: choose }),
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
  return parts(h("strong", { class: "state" }, outcome.meets ? "✓ Met" : "✕ Not met"), `: ${how}${outcome.reach ? ` ${outcome.reach}` : ""}${safer}`, between(outcome));
}

const numberInput = (label, value, change, name) =>
  h("input", { type: "number", step: "any", inputmode: "decimal", "aria-label": label, "data-name": name, value: value ?? "", on: { change: (event) => change(event.currentTarget.value === "" ? null : Number(event.currentTarget.value)) } });

/** What the figure is if nothing is released: no limit beyond it can be met. */
const between = (outcome) => (outcome.nothing_released === null || outcome.nothing_released === undefined || outcome.reach ? null : ` Nothing released: ${figure(outcome.nothing_released)}.`);

/** A rule about a figure with the limit that the server proposes: between nothing released and the file as it is. */
function proposed(about, limits, over = "mean") {
  const found = own(limits?.[about.name], over) ?? own(limits?.[about.name], "mean");
  return found ? ruleText({ name: about.name, eps: found.eps, over: own(limits[about.name], over) ? over : "mean", comparison: about.safer === "higher" ? ">=" : "<=", limit: found.limit }) : null;
}
