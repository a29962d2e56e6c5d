// The role of each column: guessed with a reason, changed by a click, used when the reader says so.

import { h, parts } from "../core/elements.js";
import { put } from "../core/api.js";
import { clipped, count, counted } from "../core/numbers.js";
import { own } from "../core/own.js";
import { accept, changed, fail } from "../core/store.js";
import { everyConfidential } from "../parts/attribute.js";
import { button, card, numberField, selectField, textField } from "../parts/controls.js";
import { smallBars } from "../parts/small_bars.js";
import { longText, table } from "../parts/table.js";
import { term } from "../parts/terms.js";

const ROLES = [["confidential", "Confidential"], ["key", "Key"], ["weights", "Weights"], ["group", "Household"], ["leave_out", "Leave out"]];
const KINDS = [["number", "numbers: close values are alike"], ["ordered", "ordered categories"], ["categories", "categories without order"], ["tree", "categories in a hierarchy"]];
const NOT_HERE = new Set(["identifier", "replicate weights"]); // suggested roles that are left out here, named beside the reason
const TYPES = { number: "numbers", text: "text", date: "dates", bool: "yes or no" };

let draft = null; // {from: the state's roles as text, roles, kinds, drop_missing} while something is not yet used
let reading = false;
let streak = null; // {column, before, after}: arrow keys pass over roles, and what they pass over must not change other columns

export function rolesCard(state) {
  const now = current(state);
  const chosen = state.columns.map((column) => column.name).filter((name) => now.roles[name] === "confidential");
  return card({ title: "What each column is", lead: "The roles are guesses with a reason. Change them by a click, then use them." },
    h("p", { class: "soft" }, "At least one column is ", term("confidential"), ": of several, each is assessed, and all together. A ", term("key"), " is something that an intruder may already know. A household is a number that its members share."),
    table({
      caption: `${counted(state.columns.length, "column")} of ${clipped(state.file.name, 40)}`,
      columns: [{ title: "Column" }, { title: "Holds" }, { title: "People by value" }, { title: "Role" }, { title: "Why this guess" }],
      rows: state.columns.map((column, at) => row(column, at, now)),
    }),
    chosen.map((name) => kindFields(state, now, name, chosen.length > 1)),
    h("label", { class: "check" }, h("input", { type: "checkbox", "data-name": "drop-missing", checked: now.drop_missing, on: { change: (event) => set({ ...latest(now), drop_missing: event.currentTarget.checked }) } }), " Leave out people whose confidential value is missing"),
    h("div", { class: "actions" },
      button(reading ? "Reading the people…" : state.people && !draft ? "Read again" : "Use these roles", () => use(state, latest(now)), { kind: "primary", disabled: reading || !chosen.length, name: "use-roles" }),
      h("span", { class: "soft", role: "status" }, !chosen.length ? "Choose a confidential column." : draft ? "Changed, not yet used." : state.people && !state.people.error ? "In use." : "")));
}

function row(column, at, now) {
  const choose = (role) => {
    if (streak?.column !== column.name || streak.after !== draft) streak = { column: column.name, before: latest(now) };
    const { before } = streak;
    const roles = { ...before.roles };
    if (role === "weights" || role === "group") for (const name of Object.keys(roles)) if (roles[name] === role) roles[name] = "leave_out";
    roles[column.name] = role;
    set({ ...before, roles, kinds: with_(before.kinds, column.name, own(before.kinds, column.name) ?? guessedKind(column)) });
    streak.after = draft;
  };
  const holds = `${TYPES[column.type] ?? column.type}, ${count(column.distinct)} different${column.nulls ? `, ${count(column.nulls)} missing` : ", none missing"}`;
  return { key: `column-${column.name}`, cells: [
    h("span", { class: "column-name" }, longText(column.name, 32)),
    parts(holds, column.problem && now.roles[column.name] === "confidential" && own(now.kinds, column.name)?.kind === "number" ? h("p", { class: "note problem", "data-name": `problem-${column.name}` }, longText(column.problem, 400)) : null),
    smallBars(column),
    h("fieldset", { class: "segments" }, h("legend", { class: "unseen" }, `Role of ${clipped(column.name, 60)}`),
      ROLES.map(([role, label]) => h("label", { class: "segment", key: role },
        h("input", { type: "radio", name: `role-${at}`, "data-name": `role-${column.name}-${role}`, value: role, checked: now.roles[column.name] === role, on: { change: () => choose(role) } }), h("span", {}, label)))),
    h("span", { class: "soft" }, NOT_HERE.has(column.guess?.suggested) ? h("strong", {}, `${column.guess.suggested}: `) : null, longText(column.guess?.reason ?? "", 200)),
  ] };
}

/** The fields of a confidential column; their names have the column's if there are several. */
function kindFields(state, now, chosen, several) {
  const kind = own(now.kinds, chosen);
  const say = (part) => { const last = latest(now); set({ ...last, kinds: with_(last.kinds, chosen, { ...own(last.kinds, chosen), ...part }) }); };
  const named = (name) => (several ? `${name}-${chosen}` : name);
  const trees = (state.hierarchies ?? []).filter((each) => each.column === chosen).map((each) => each.name);
  return h("fieldset", { class: "group", key: `kind-${chosen}` }, h("legend", {}, `About ${clipped(chosen, 40)}`), h("div", { class: "fields" },
    selectField(named("kind"), "Kind of values", { value: kind.kind, choices: KINDS, change: (value) => say({ kind: value }) }),
    kind.kind === "number" ? numberField(named("round-to"), "Round to multiples of", { value: kind.round_to, change: (value) => say({ round_to: value }), hint: "Empty: as in the file. Rounding makes near values equal." }) : null,
    kind.kind === "number" ? textField(named("unit"), "Unit", { value: kind.unit ?? "", change: (value) => say({ unit: value }), hint: "Such as EUR or cents; shown beside figures." }) : null,
    kind.kind === "ordered" ? textField(named("levels"), "Order, from lowest to highest", { value: (kind.levels ?? []).join(", "), change: (value) => say({ levels: value.split(",").map((each) => each.trim()).filter(Boolean) }), hint: "Separated by commas.", wide: true }) : null,
    kind.kind === "tree" ? selectField(named("tree"), "Hierarchy", { value: kind.hierarchy ?? "", choices: [["", "choose one"], ...trees], change: (value) => say({ hierarchy: value || null }), hint: trees.length ? "" : "Upload one for this column below." }) : null));
}

function current(state) {
  const from = JSON.stringify([state.file?.name, state.file?.bytes, state.reading?.asked, state.roles]);
  if (draft && draft.from === from) return draft;
  draft = null;
  const used = state.roles?.confidential;
  const roles = Object.fromEntries(state.columns.map((column) => [column.name, used ? usedRole(state.roles, column.name) : column.guess?.role ?? "leave_out"]));
  const kinds = Object.fromEntries(state.columns.filter((column) => roles[column.name] === "confidential").map((column) => [column.name, usedKind(state.roles, column.name) ?? guessedKind(column)]));
  return { from, roles, kinds, drop_missing: Boolean(state.roles?.drop_missing) };
}

const guessedKind = (column) => ({ kind: column.guess?.kind ?? (column.type === "number" ? "number" : "categories"), round_to: null, unit: "", levels: null, hierarchy: null });
const usedRole = (roles, name) => (everyConfidential(roles).some((each) => each.name === name) ? "confidential" : roles.keys?.includes(name) ? "key" : roles.weights === name ? "weights" : roles.group === name ? "group" : "leave_out");
const usedKind = (roles, name) => everyConfidential(roles).find((each) => each.name === name)?.kind;
const with_ = (object, name, value) => Object.fromEntries([...Object.entries(object).filter(([each]) => each !== name), [name, value]]);

/** The draft as it is now: a second change may come before the first one is drawn. */
const latest = (drawn) => (draft?.from === drawn.from ? draft : drawn);

function set(next) {
  draft = next;
  changed();
}

async function use(state, now) {
  const named = (role) => state.columns.map((column) => column.name).filter((name) => now.roles[name] === role);
  reading = true;
  changed();
  try {
    const every = named("confidential").map((name) => ({ name, kind: own(now.kinds, name) }));
    const first = every.find((each) => each.name === state.roles?.confidential) ?? every[0];
    const fresh = await put("/api/roles", { confidential: first.name, kind: first.kind, also: every.filter((each) => each !== first), keys: named("key"), weights: named("weights")[0] ?? null, group: named("group")[0] ?? null, drop_missing: now.drop_missing });
    draft = null;
    accept(fresh);
    document.getElementById("announced").textContent = "The roles are in use.";
  } catch (failure) {
    fail(failure);
  } finally {
    reading = false;
    changed();
  }
}
