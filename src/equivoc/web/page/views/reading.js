// How the file is read: what was guessed, in a sentence; what can be said instead; and a question if two readings fit.

import { h, parts } from "../core/elements.js";
import { put } from "../core/api.js";
import { clipped } from "../core/numbers.js";
import { accept, changed, fail, store } from "../core/store.js";
import { button, card, selectField, textField } from "../parts/controls.js";

const TEXT = ["csv", "fixed"];
const NAMES = { csv: "text (CSV)", fixed: "fixed width", parquet: "Parquet", arrow: "Arrow", excel: "Excel", ods: "OpenDocument sheet", spss: "SPSS", stata: "Stata", sas: "SAS", xport: "SAS transport", r: "R" };
const SEPARATORS = { ",": "comma", ";": "semicolon", "\t": "tab", "|": "bar", " ": "blank" };
const DECIMALS = { ".": "point: 1.5", ",": "comma: 1,5" };
const THOUSANDS = { ".": "point: 1.000", ",": "comma: 1,000", "'": "apostrophe: 1'000", " ": "blank: 1 000", none: "none" };
const HEADER = { true: "yes: the first line names the columns", false: "no: they become column_1, column_2, …" };
const LABELS = { labels: "labels", codes: "codes" };

let busy = false;

/** The card below the file: its sentence, the question if there is one, and the fields. */
export function readingCard(state) {
  const { asked, reading, question, answers } = state.reading;
  const doubt = state.people?.answers?.length ? { question: state.people.error, answers: state.people.answers } : { question, answers: answers ?? [] };
  const shown = state.people && !state.people.error ? state.people.reading : reading;
  const say = (part) => send({ ...asked, ...part });
  return card({ title: "How it is read", id: "reading" },
    h("p", { "data-name": "read-as", role: "status" }, busy ? "Reading the file again…" : shown?.sentence ? `${capital(clipped(shown.sentence, 400))}.` : "As it is: nothing had to be guessed."),
    doubt.question ? asking(doubt, say) : null,
    h("details", { class: "more", key: "reading-fields" }, h("summary", { "data-name": "reading-more" }, Object.keys(asked).length ? "Change the reading (some of it is set)" : "Change the reading"),
      readingFields(asked, reading, say)));
}

/** The file could not be opened: the same fields, to open it with another reading. */
export function readingAgain(asked, say) {
  return h("div", { class: "group", key: "reading-again" }, h("p", { class: "soft" }, "Say how it is read, and it is opened again:"), readingFields(asked, null, say));
}

function asking({ question, answers }, say) {
  return h("div", { class: "note", key: "reading-question", role: "alert", "data-name": "reading-question" },
    h("p", {}, clipped(question, 600)),
    h("div", { class: "actions" }, answers.map((each, at) => button(capital(each.meaning), () => say(each.option), { kind: at ? "" : "primary", name: `reading-answer-${at + 1}`, disabled: busy }))));
}

const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

function readingFields(asked, guessed, say) {
  const isText = !guessed || TEXT.includes(guessed.format);
  const choose = (name, label, choices, hint) => selectField(`reading-${name}`, label, {
    value: String(asked[name] ?? ""), hint, choices: [["", asGuessed(guessed?.[name], choices)], ...Object.entries(choices), ...unlisted(asked[name], choices)],
    change: (value) => say({ [name]: value === "" ? undefined : name === "header" ? value === "true" : value }) });
  const type = (name, label, hint) => textField(`reading-${name}`, label, {
    value: asked[name] ?? "", placeholder: guessed?.[name] ? `${guessed[name]} (guessed)` : "guessed", hint, change: (value) => say({ [name]: value.trim() || undefined }) });
  return h("div", { class: "fields" },
    choose("format", "Format", NAMES),
    isText ? parts(choose("separator", "Separator", SEPARATORS), choose("decimal", "Decimal mark", DECIMALS), choose("thousands", "Between thousands", THOUSANDS), choose("header", "Header", HEADER)) : null,
    guessed && ["excel", "ods", "r"].includes(guessed.format) ? type("sheet", guessed.format === "r" ? "Frame" : "Sheet") : null,
    isText || guessed?.encoding ? type("encoding", "Encoding", "Such as utf-8, latin-1, utf-16.") : null,
    type("dates", "Dates", "Such as %d.%m.%Y."),
    guessed && ["spss", "stata", "sas", "r"].includes(guessed.format) ? choose("labels", "Values with labels", LABELS) : null,
    textField("reading-missing", "Missing words", { value: missingText(asked.missing), placeholder: wordsOf(guessed?.missing), wide: true,
      hint: "Separated by commas: NA, -8. For single columns: income=-8, income=-9.", change: (value) => say({ missing: missingWords(value) }) }));
}

const asGuessed = (value, choices) => (value === undefined || value === null ? "guessed" : `guessed: ${choices[value] ?? value}`);
const unlisted = (value, choices) => (value === undefined || String(value) in choices ? [] : [[value, value]]);

function wordsOf(missing) {
  const words = [...new Set(Object.values(missing ?? {}).flatMap((each) => Object.keys(each)))];
  return words.length ? `${words.slice(0, 4).join(", ")} (guessed)` : "none";
}

function missingText(missing) {
  if (!missing) return "";
  return Array.isArray(missing) ? missing.join(", ") : Object.entries(missing).flatMap(([column, words]) => words.map((word) => `${column}=${word}`)).join(", ");
}

/** Words for all columns; or, if one of them names a column, words by column. */
function missingWords(text) {
  const words = text.split(",").map((each) => each.trim()).filter(Boolean);
  if (!words.length) return undefined;
  if (!words.some((each) => each.includes("="))) return words;
  const found = new Map();
  for (const each of words) {
    const at = each.indexOf("=");
    const column = at < 0 ? "" : each.slice(0, at).trim();
    found.set(column, [...(found.get(column) ?? []), each.slice(at + 1).trim()]);
  }
  return Object.fromEntries(found);
}

async function send(asked) {
  if (busy) return;
  busy = true;
  changed();
  try {
    accept(await put("/api/reading", asked));
    store.problem = ""; // what was wrong with the former reading
    document.getElementById("announced").textContent = "The file is read again.";
  } catch (failure) {
    fail(failure);
  } finally {
    busy = false;
    changed();
  }
}
