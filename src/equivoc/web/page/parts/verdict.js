// The verdict on top of every view: is it safe by the rules, for how many people not, what would an intruder do.

import { h, parts } from "../core/elements.js";
import { count, listed, people, percent, clipped } from "../core/numbers.js";
import { hasPeople, shownFacts } from "../core/answers.js";
import { othersMissed, togetherFigures } from "./attribute.js";
import { term } from "./terms.js";

export function verdict(state) {
  if (!hasPeople(state)) return nothingYet(state);
  const { facts, mark, problem, current } = shownFacts(state);
  if (problem) return frame("caution", "!", "This cannot be judged", [h("p", { class: "said" }, problem)]);
  if (!facts) return frame("waiting", "…", "Computing the risk", [h("p", { class: "said" }, "The first figures take a few seconds.")]);
  const rules = facts.requirements?.rows ?? [];
  const missed = rules.filter((rule) => !rule.meets);
  const met = rules.length > 0 && !missed.length;
  const others = othersMissed(state, facts); // one file is published: it must be safe for every confidential attribute
  const judged = !state.roles.also?.length || facts.together?.problem === "";
  const safe = met && mark === "strongest" && judged && !others.length; // a weaker intruder's figures look safer than they are
  const tone = safe ? "calm" : missed.length || others.length ? "alarm" : "facts";
  const these = rules.length === 1 ? "rule" : `${rules.length} rules`;
  const headline = !rules.length ? "No rule is set, so nothing says whether this is safe"
    : safe ? `Safe by your ${these}`
      : met && others.length ? `Not safe: met for ${clipped(state.roles.confidential, 30)}, but not for ${listed([...new Set(others.map((each) => clipped(each.attribute, 30)))])}`
      : met && mark === "strongest" ? `Your ${these} ${rules.length === 1 ? "is" : "are"} met for ${clipped(state.roles.confidential, 30)}; the other confidential columns are not judged`
      : met ? `Your ${these} ${rules.length === 1 ? "is" : "are"} met for the informed intruder; the strongest one ${mark === "informed" ? "is not known" : "is being computed"}`
        : rules.length === 1 ? "Not safe by your rule" : `Not safe: ${missed.length} of your ${rules.length} rules ${missed.length === 1 ? "is" : "are"} not met`;
  return frame(tone, safe ? "✓" : missed.length || others.length ? "✕" : met ? "…" : "i", headline, [
    rules.length ? null : h("p", { class: "soft" }, h("a", { href: "#techniques" }, "Set a rule"), " to get a verdict. Until then these are the facts."),
    h("p", { class: "said" }, exposure(facts)),
    h("p", { class: "did" }, story(facts)),
    tiles(facts),
    others.map((each, at) => h("p", { class: "fine", key: `other-${at}` }, `${clipped(each.attribute, 30)}: ${each.sentence}`)),
    togetherFigures(state, facts),
    notes(facts),
    h("p", { class: "fine", id: "whose" }, parts(whose(mark, facts), current ? null : h("span", { class: "busy" }, " Updating…"))),
  ], `Verdict on ${facts.technique.notation === "unprotected" ? "the file as it is" : clipped(facts.technique.notation, 80)}`);
}

/** The frame of a verdict; the views of queries and tables have verdicts of their own. */
export function frame(tone, sign, headline, content, about = "Verdict") {
  return h("section", { class: `verdict ${tone}`, id: "verdict", "aria-labelledby": "verdict-title" },
    h("div", { class: "verdict-sign", "aria-hidden": "true" }, sign),
    h("div", { class: "verdict-body" },
      h("p", { class: "eyebrow" }, about),
      h("div", { "aria-live": "polite" }, h("h2", { id: "verdict-title" }, headline)), parts(content)));
}

/** What to know about the figures: people who were left out, how the table was made, what was not checked. */
export const notes = (facts) => (facts.notes ?? []).map((note, at) => h("p", { class: "fine", key: `note-${at}` }, note));

function nothingYet(state) {
  if (!state.file) return frame("waiting", "1", "Open a file to begin", [h("p", { class: "said" }, "Then say which column is confidential and what an intruder may already know. The page shows how precisely she could learn the confidential value, and what helps.")]);
  if (state.people?.error) return frame("caution", "!", "The file cannot be used like this yet", [h("p", { class: "said" }, state.people.error)]);
  return frame("waiting", "2", "Say what is confidential", [h("p", { class: "said" }, "Choose one confidential column and the keys that an intruder may know under Data. The roles below are guesses: check them, then use them.")]);
}

/** For how many people is it not safe? */
function exposure(facts) {
  const records = facts.data.records;
  const exposed = Math.round(facts.truth.below_half_bit * records);
  const certain = facts.truth.certain_right;
  const name = clipped(facts.data.confidential.name, 40);
  const before = Math.round((facts.truth.below_half_bit_without ?? 0) * records);
  const sure = certain ? ` She is certain, and right, about ${people(certain)}.` : " She is certain about nobody's value.";
  if (!exposed) return parts(h("strong", {}, "Nobody"), ` of ${people(records)} is `, term("exposed"), `: for no one does she consider the true ${name} more than 71 % likely.${sure}`);
  return parts(h("strong", { id: "exposed" }, `${count(exposed)} of ${people(records)}`), ` (${percent(exposed / records)}) ${exposed === 1 ? "is" : "are"} `, term("exposed"),
    `: an intruder would consider their true ${name} more than 71 % likely. Without the release: ${count(before)}.${sure}`);
}

function story(facts) {
  const keys = facts.known.map((key) => clipped(key, 30));
  const knows = keys.length ? `somebody whose ${listed(keys)} she knows` : "somebody about whom she knows nothing";
  const hit = facts.shown_hit;
  const close = hit.eps ? `${hit.close} of the true ${clipped(facts.data.confidential.name, 40)}` : `the exact ${clipped(facts.data.confidential.name, 40)}`;
  return parts(h("strong", {}, "What an "), term("intruder"), h("strong", {}, " would do: "), `look up ${knows}, and name the most likely value. ${hit.eps ? `She is ${close}` : `She names ${close}`} for ${percent(hit.true_hit)} of the people; without the release she expects ${percent(hit.prior)}.`);
}

function tiles(facts) {
  const records = facts.data.records;
  const hit = facts.shown_hit;
  const unit = facts.data.confidential.unit;
  const close = hit.eps ? `${hit.close}${unit && !hit.close.includes(unit) ? ` ${unit}` : ""}` : "exact";
  return h("dl", { class: "tiles" },
    tile(parts("People ", term("exposed")), count(facts.truth.below_half_bit * records), `of ${count(records)}; without release ${count((facts.truth.below_half_bit_without ?? 0) * records)}. Fewer is safer.`, "exposed"),
    tile(parts("Her best guess is ", term("hit", "right"), `, ${close}`), percent(hit.true_hit), `of the people; without release ${percent(hit.prior)} expected, file as it is ${percent(hit.unprotected)}. Lower is safer.`, "true-hit"),
    tile(parts("Of the secret ", term("given away")), percent(facts.truth.given_away), `file as it is: ${percent(facts.truth.given_away_unprotected)}. Lower is safer.`, "given-away"),
    tile(term("certain and right", "Certain and right"), count(facts.truth.certain_right), `people; certain but wrong: ${count(facts.truth.certain_wrong)}. 0 is safe.`, "certain-right"));
}

export const tile = (title, big, beside, name) =>
  h("div", { class: "tile", "data-figure": name }, h("dt", {}, title), h("dd", {}, h("span", { class: "big" }, big), h("span", { class: "beside" }, beside)));

function whose(mark, facts) {
  if (mark === "strongest") return parts("Figures of the ", term("strongest"), ` intruder: ${facts.intruders.used}.`);
  if (mark === "computing") return parts("Figures of the ", term("informed"), " intruder; the ", term("strongest"), " one is being computed and will replace them.");
  return parts("Figures of the ", term("informed"), " intruder.");
}
