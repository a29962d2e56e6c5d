// Explore: move the tolerance, toggle what the intruder knows, look up one class of people.

import { h, parts } from "../core/elements.js";
import { explored, levels, shownFacts } from "../core/answers.js";
import { bits, clipped, counted, figure, listed, people, percent } from "../core/numbers.js";
import { own } from "../core/own.js";
import { change } from "../core/store.js";
import { button, card, chips, field, slider } from "../parts/controls.js";
import { curveChart, usefulEnd } from "../parts/curve_drawing.js";
import { posteriorChart } from "../parts/posterior_drawing.js";
import { table } from "../parts/table.js";
import { term } from "../parts/terms.js";
import { tile } from "../parts/verdict.js";

const typed = new Map(); // what is chosen in the look-up, by key, before it is looked up

export function exploreView(state) {
  const found = explored(state);
  const unit = state.roles.kind?.unit ?? "";
  const width = Math.max(300, Math.min(680, document.documentElement.clientWidth - 72));
  return h("div", { class: "two-columns explore-columns" },
    h("div", { class: "side" }, controls(state, found.value, unit)),
    h("div", { class: "wide-side" },
      found.problem ? h("p", { class: "note problem", role: "alert" }, found.problem) : null,
      found.value ? parts(curveCard(found.value, unit, width), classCard(found.value, unit, width)) : h("p", { class: "soft", role: "status" }, "Computing the curve…")),
    h("div", { class: "side" }, keysCard(state), lookUp(state)));
}

function controls(state, answer, unit) {
  const { eps, known } = state.view;
  const widest = answer?.eps_max ?? state.people.eps_max ?? (state.people.high ?? 1) - (state.people.low ?? 0);
  const end = Math.max(answer?.curve ? Math.min(usefulEnd(answer.curve), widest) : widest, eps);
  return card({ title: "What counts as a hit, and what she knows" },
    slider("eps", "Tolerance ε", { value: eps, low: 0, high: end, step: stepOf(end), unit, move: (value) => change({ view: { eps: Math.max(0, value) } }),
      hint: eps > 0 ? `A guess within ±${figure(eps / 2)}${unit ? ` ${unit}` : ""} of the true value counts as right.` : "Only the exact value counts." }),
    chips(parts("She knows these ", term("key", "keys")), { name: "known", names: state.roles.keys, chosen: known ?? [], change: (names) => change({ view: { known: names } }), hint: known?.length ? "The more she knows, the higher the risk." : "She knows nothing about the person." }),
    h("p", { class: "soft" }, "Release: ", h("code", {}, clipped(state.view.technique, 60)), ". ", h("a", { href: "#techniques" }, "Change it")));
}

/** About 200 steps of 1, 2 or 5 units of a decimal. */
function stepOf(end) {
  if (!(end > 0)) return 1;
  const rough = end / 200, power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].find((each) => each * power >= rough * 0.999) * power;
}

function curveCard(answer, unit, width) {
  const { mean, eps } = answer;
  const right = eps > 0 ? `within ±${figure(eps / 2)}${unit ? ` ${unit}` : ""}` : "exactly right";
  return card({ title: "How unsure she remains" },
    h("p", { class: "soft" }, "The higher a line, the less she knows. A good protection lies near ", term("without release", "nothing released"), ", far above the ", term("unprotected", "file as it is"), "."),
    answer.intruder ? h("p", { class: "soft" }, "These figures follow every move and are those of the ", term("informed"), " intruder.") : null,
    answer.curve ? curveChart(answer.curve, mean, eps, { unit, width }) : null,
    h("dl", { class: "tiles tight", "aria-live": "polite" },
      tile(term("H(ε)"), bits(mean.h), "bits of uncertainty that remain on average. Higher is safer.", "explore-h"),
      tile(term("T(ε)"), bits(mean.surprise), "bits of surprise at the true value on average. Higher is safer.", "explore-surprise"),
      tile(parts("She expects to be ", term("hit she expects", "right")), percent(mean.hit), `of the time, ${right}. Lower is safer.`, "explore-hit"),
      tile(parts("She is ", term("hit", "right")), percent(mean.true_hit), `of the time, ${right}. Lower is safer.`, "explore-true_hit")));
}

function classCard(answer, unit, width) {
  const found = answer.class;
  if (!found) return card({ title: "One class of people" }, h("p", { role: "status" }, answer.missing ?? "No class is chosen."));
  const keys = Object.entries(found.keys);
  const who = keys.length ? listed(keys.map(([key, value]) => `${clipped(key, 30)} ${clipped(value, 30)}`)) : "everybody";
  return card({ title: "One class of people" },
    h("p", { role: "status" }, h("strong", {}, who), `: ${people(found.size)} ${found.size === 1 ? "is" : "are"} alike in what she knows${found.chosen === "largest" ? " (the largest class)" : ""}. `,
      "What she then believes about their value, with the ", term("window", "windows"), " that count as one value at this ε:"),
    found.small ? h("p", { class: "note" }, "Fewer than three people: do not show this picture to others.") : null,
    posteriorChart(found, answer.eps, { unit, width }),
    h("p", { class: "soft" }, `${bits(found.h)} bits of uncertainty at this ε (higher is safer); her best guess, which may lie across two windows, has ${percent(found.hit)}${found.true_hit === undefined || found.true_hit === null ? "" : `, and it is right for ${percent(found.true_hit)} of them`} (lower is safer).`));
}

function lookUp(state) {
  const known = state.view.known ?? [];
  if (!known.length) return null;
  const found = levels(state).value ?? {};
  const levelsOf = (key) => own(found, key) ?? [];
  const now = (key) => typed.get(key) ?? own(state.view.class, key) ?? "";
  const chosen = () => Object.fromEntries(known.map((key) => [key, levelsOf(key).find((level) => String(level) === String(now(key))) ?? now(key)]));
  const gone = Object.fromEntries(Object.keys(state.view.class ?? {}).map((key) => [key, null]));
  return card({ title: "Look up one class" },
    h("form", { class: "stacked", key: "look-up", on: { submit: (event) => { event.preventDefault(); change({ view: { class: { ...gone, ...chosen() } } }); } } },
      known.map((key) => field(`class-${key}`, clipped(key, 40), (common) => {
        const list = `levels-${known.indexOf(key)}`;
        return h("span", { class: "with-list" },
          h("input", { ...common, list, value: now(key), autocomplete: "off", on: { input: (event) => { typed.set(key, event.currentTarget.value); } } }),
          h("datalist", { id: list }, levelsOf(key).map((level) => h("option", { value: level, key: String(level) }))));
      })),
      h("div", { class: "actions" }, h("button", { type: "submit", class: "button primary", "data-name": "look-up" }, "Look up"),
        state.view.class ? button("Largest class", () => { typed.clear(); change({ view: { class: null } }); }, { kind: "quiet" }) : null)));
}

/** Risk by the number of keys that she knows. */
function keysCard(state) {
  const { facts } = shownFacts(state);
  const sizes = facts?.knowledge?.sizes ?? [];
  if (sizes.length < 2) return null;
  const most = Math.max(...sizes.map((size) => Math.max(size.h0, size.h0_unprotected)), 0.001);
  const bar = (value, kind) => h("span", { class: "meter", "aria-hidden": "true" }, h("span", { class: `meter-bar ${kind}`, style: { width: `${(100 * value) / most}%` } }));
  return card({ title: "By how many keys she knows" }, table({
    caption: "Mean uncertainty about the exact value, in bits, over all choices of so many keys; higher is safer",
    columns: [{ title: "Keys known" }, { title: "This release" }, { title: "File as it is" }],
    rows: sizes.map((size) => ({ class: size.size === facts.known.length ? "chosen" : null, cells: [
      `${counted(size.size, "key")}${size.size === facts.known.length ? " (as now)" : ""}`,
      h("span", { class: "metered" }, bar(size.h0, "line-release"), h("span", { class: "metered-number" }, bits(size.h0))),
      h("span", { class: "metered" }, bar(size.h0_unprotected, "line-unprotected"), h("span", { class: "metered-number" }, bits(size.h0_unprotected)))] })),
  }));
}
