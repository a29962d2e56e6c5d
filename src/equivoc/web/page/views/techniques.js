// Techniques: choose one, set its parameters, see risk and usefulness beside the unprotected file and no release.

import { h, parts } from "../core/elements.js";
import { catalogued, limits, shownFacts } from "../core/answers.js";
import { bits, clipped, figure, percent } from "../core/numbers.js";
import { change, store } from "../core/store.js";
import { button, card, numberField, selectField } from "../parts/controls.js";
import { parse } from "../parts/notation.js";
import { parameterControls } from "../parts/parameters.js";
import { rulesEditor } from "../parts/rules.js";
import { table } from "../parts/table.js";
import { term } from "../parts/terms.js";

const last = new Map(); // the notation with which each technique was last shown

export function techniquesView(state) {
  const found = catalogued(state);
  if (!found.value) return h("p", { class: "soft", role: "status" }, found.problem || "Reading the catalogue of techniques…");
  const { techniques, figures } = found.value;
  const { name } = parse(state.view.technique);
  const technique = techniques.find((each) => each.name === name);
  last.set(name, state.view.technique);
  return h("div", { class: "two-columns" },
    h("div", { class: "side" }, listCard(techniques, name)),
    h("div", { class: "wide-side" },
      technique ? settingCard(state, technique, found.value) : null,
      rulesCard(state, figures), riskCard(state), lossCard(state)));
}

function listCard(techniques, chosen) {
  const choose = (technique) => change({ view: { technique: last.get(technique.name) ?? technique.starting } });
  return card({ title: "Technique" }, h("fieldset", { class: "technique-list" }, h("legend", { class: "unseen" }, "Technique"),
    techniques.map((technique) => h("label", { class: `technique ${technique.applies ? "" : "off"}`, key: technique.name },
      h("input", { type: "radio", name: "technique", "data-name": `technique-${technique.name}`, value: technique.name, checked: technique.name === chosen, disabled: !technique.applies, on: { change: () => choose(technique) } }),
      h("span", { class: "technique-text" }, h("span", { class: "technique-name" }, technique.title ?? technique.name), h("span", { class: "soft" }, plainly(technique.applies ? technique.summary : technique.why_not)))))));
}

function settingCard(state, technique, { priors }) {
  const { view, settings } = state;
  const listed = settings.includes(view.technique);
  return card({ title: technique.title ?? technique.name, lead: plainly(technique.summary) },
    parameterControls(technique, view.technique, (notation) => change({ view: { technique: notation } })),
    h("details", { class: "more" }, h("summary", {}, "Random draw and what she expects"), h("div", { class: "fields" },
      numberField("seed", "Seed", { value: view.seed ?? 0, low: 0, step: 1, change: (seed) => change({ view: { seed: Math.max(0, Math.round(seed ?? 0)) } }), hint: "Another seed is another random release of the same technique." }),
      priors?.length ? selectField("prior", "Before the release she expects", { value: view.prior, choices: priors.map((each) => (each.name ? [each.name, each.meaning ? `${each.name}: ${each.meaning}` : each.name] : [each, each])), change: (prior) => change({ view: { prior } }) }) : null)),
    h("p", { class: "soft" }, "Written as ", h("code", { id: "notation" }, clipped(view.technique, 200))),
    h("div", { class: "actions" },
      button(listed ? "In the comparison" : "Add to the comparison", () => change({ settings: [...settings, view.technique] }), { disabled: listed, name: "add-setting" }),
      h("a", { class: "button", href: "#take-away" }, "Protect the file with this")));
}

function rulesCard(state, figures) {
  const { facts, current } = shownFacts(state);
  return card({ title: "Your rules", lead: "What must hold before you would publish. Each rule is judged as you change the technique." },
    rulesEditor({ rules: state.view.require ?? [], now: () => store.state.view.require ?? [], outcomes: current ? facts?.requirements?.rows : null, figures, limits: limits(state).value, change: (rules) => change({ view: { require: rules } }) }),
    facts?.requirements?.help && current ? h("p", { class: "note" }, facts.requirements.help) : null,
    facts?.requirements?.note && current ? h("p", { class: "soft" }, facts.requirements.note) : null);
}

function riskCard(state) {
  const { facts } = shownFacts(state);
  if (!facts) return null;
  const hit = facts.shown_hit;
  const share = (one) => percent(one);
  const row = (name, label, unit, safer, release, unprotected, prior, show) => ({ key: name, cells: [label, h("span", { class: "figure", "data-figure": `side-${name}` }, show(release)), show(unprotected), show(prior), unit, safer] });
  return card({ title: "Risk side by side" }, table({
    caption: "Means over all people",
    columns: [{ title: "Figure" }, { title: "This release", number: true }, { title: "File as it is", number: true }, { title: "Nothing released", number: true }, { title: "Unit" }, { title: "Safer is" }],
    rows: parts(
      row("surprise", parts(term("T(ε)", "Surprise"), " at the exact value"), "bits", "higher", facts.truth.surprise, facts.truth.unprotected, facts.truth.prior, bits),
      facts.figures.map((each) => row(each.name, each.name === "area" ? term("area", each.label) : each.name === "h0" ? parts("Uncertainty ", term("H(ε)", "H0")) : each.label, each.unit, each.safer, each.release, each.unprotected, each.prior, each.unit === "bits" ? bits : figure)),
      row("hit", parts("She expects to be right, ", hit.close), "of people", "lower", hit.release, hit.unprotected, hit.prior, share),
      row("true_hit", parts("She ", term("hit", "is right"), `, ${hit.close}`), "of people", "lower", hit.true_hit, null, null, share)),
  }));
}

function lossCard(state) {
  const { utility, note } = shownFacts(state);
  const rows = utility?.rows ?? utility;
  if (!rows?.length) return card({ title: "What is lost" }, h("p", { class: "soft" }, note ?? "Usefulness is measured where a technique releases a file."));
  return card({ title: "What is lost" }, h("p", { class: "soft" }, "", term("loss", "Losses"), " are 0 for the file as it is. Lower is more useful."), table({
    caption: "What the protection changes in the file",
    columns: [{ title: "Measure" }, { title: "Loss", number: true }, { title: "In words" }],
    rows: rows.map((each, at) => ({ key: `${each.measure}-${each.attribute}-${at}`, cells: [clipped(each.label, 60), figure(each.value), clipped(each.meaning, 400)] })),
  }));
}

/** Summaries come from docstrings, which mark names with backticks. */
const plainly = (text) => (text ?? "").replaceAll("`", "");
