// The role of each column: guessed with a reason, changed by a click, used when the reader says so.

import { h, parts } from "../core/elements.js";
import { put } from "../core/api.js";
import { clipped, count, counted } from "../core/numbers.js";
import { accept, changed, fail } from "../core/store.js";
import { button, card, numberField, selectField, textField } from "../parts/controls.js";
import { smallBars } from "../parts/small_bars.js";
import { longText, table } from "../parts/table.js";
import { term } from "../parts/terms.js";

const ROLES = [["confidential", "Confidential"], ["key", "Key"], ["weights", "Weights"], ["leave_out", "Leave out"]];
const KINDS = [["number", "numbers: close values are alike"], ["ordered", "ordered categories"], ["categories", "categories without order"], ["tree", "categories in a hierarchy"]];
const NOT_HERE = new Set(["identifier", "group", "replicate weights"]); // suggested roles that are left out here, named beside the reason
const TYPES = { number: "numbers", text: "text", date: "dates", bool: "yes or no" };

let draft = null; // {from: the state's roles as text, roles, kind, drop_missing} while something is not yet used
let reading = false;
let streak = null; // {column, before, after}: arrow keys pass over roles, and what they pass over must not change other columns

export function rolesCard(state) {
  const now = current(state);
  const chosen = Object.entries(now.roles).find(([, role]) => role === "confidential")?.[0];
  return card({ title: "What each column is", lead: "The roles are guesses with a reason. Change them by a click, then use them." },
    h("p", { class: "soft" }, "One column is ", term("confidential"), ". A ", term("key"), " is something that an intruder may already know."),
    table({
      caption: `${counted(state.columns.length, "column")} of ${clipped(state.file.name, 40)}`,
      columns: [{ title: "Column" }, { title: "Holds" }, { title: "People by value" }, { title: "Role" }, { title: "Why this guess" }],
      rows: state.columns.map((column, at) => row(column, at, now)),
    }),
    chosen === undefined ? null : kindFields(state, now, chosen),
    h("label", { class: "check" }, h("input", { type: "checkbox", "data-name": "drop-missing", checked: now.drop_missing, on: { change: (event) => set({ ...latest(now), drop_missing: event.currentTarget.checked }) } }), " Leave out people whose confidential value is missing"),
    h("div", { class: "actions" },
      button(reading ? "Reading the people…" : state.people && !draft ? "Read again" : "Use these roles", () => use(state, latest(now)), { kind: "primary", disabled: reading || chosen === undefined, name: "use-roles" }),
      h("span", { class: "soft", role: "status" }, chosen === undefined ? "Choose one confidential column." : draft ? "Changed, not yet used." : state.people && !state.people.error ? "In use." : "")));
}

function row(column, at, now) {
  const choose = (role) => {
    if (streak?.column !== column.name || streak.after !== draft) streak = { column: column.name, before: latest(now) };
    const { before } = streak;
    const roles = { ...before.roles };
    if (role === "confidential" || role === "weights") for (const name of Object.keys(roles)) if (roles[name] === role) roles[name] = "leave_out";
    roles[column.name] = role;
    const kind = role === "confidential" && before.roles[column.name] !== role ? guessedKind(column) : before.kind;
    set({ ...before, roles, kind });
    streak.after = draft;
  };
  const holds = `${TYPES[column.type] ?? column.type}, ${count(column.distinct)} different${column.nulls ? `, ${count(column.nulls)} missing` : ", none missing"}`;
  return { key: `column-${column.name}`, cells: [
    h("span", { class: "column-name" }, longText(column.name, 32)),
    parts(holds, column.problem && now.roles[column.name] === "confidential" && now.kind.kind === "number" ? h("p", { class: "note problem", "data-name": `problem-${column.name}` }, longText(column.problem, 400)) : null),
    smallBars(column),
    h("fieldset", { class: "segments" }, h("legend", { class: "unseen" }, `Role of ${clipped(column.name, 60)}`),
      ROLES.map(([role, label]) => h("label", { class: "segment", key: role },
        h("input", { type: "radio", name: `role-${at}`, "data-name": `role-${column.name}-${role}`, value: role, checked: now.roles[column.name] === role, on: { change: () => choose(role) } }), h("span", {}, label)))),
    h("span", { class: "soft" }, NOT_HERE.has(column.guess?.suggested) ? h("strong", {}, `${column.guess.suggested}: `) : null, longText(column.guess?.reason ?? "", 200)),
  ] };
}

function kindFields(state, now, chosen) {
  const kind = now.kind;
  const say = (part) => { const last = latest(now); set({ ...last, kind: { ...last.kind, ...part } }); };
  const trees = (state.hierarchies ?? []).filter((each) => each.column === chosen).map((each) => each.name);
  return h("fieldset", { class: "group", key: "kind" }, h("legend", {}, `About ${clipped(chosen, 40)}`), h("div", { class: "fields" },
    selectField("kind", "Kind of values", { value: kind.kind, choices: KINDS, change: (value) => say({ kind: value }) }),
    kind.kind === "number" ? numberField("round-to", "Round to multiples of", { value: kind.round_to, change: (value) => say({ round_to: value }), hint: "Empty: as in the file. Rounding makes near values equal." }) : null,
    kind.kind === "number" ? textField("unit", "Unit", { value: kind.unit ?? "", change: (value) => say({ unit: value }), hint: "Such as EUR or cents; shown beside figures." }) : null,
    kind.kind === "ordered" ? textField("levels", "Order, from lowest to highest", { value: (kind.levels ?? []).join(", "), change: (value) => say({ levels: value.split(",").map((each) => each.trim()).filter(Boolean) }), hint: "Separated by commas.", wide: true }) : null,
    kind.kind === "tree" ? selectField("tree", "Hierarchy", { value: kind.hierarchy ?? "", choices: [["", "choose one"], ...trees], change: (value) => say({ hierarchy: value || null }), hint: trees.length ? "" : "Upload one for this column below." }) : null));
}

function current(state) {
  const from = JSON.stringify([state.file?.name, state.file?.bytes, state.reading?.asked, state.roles]);
  if (draft && draft.from === from) return draft;
  draft = null;
  const used = state.roles?.confidential;
  const roles = Object.fromEntries(state.columns.map((column) => [column.name, used ? usedRole(state.roles, column.name) : column.guess?.role ?? "leave_out"]));
  const first = state.columns.find((column) => roles[column.name] === "confidential");
  return { from, roles, kind: used && state.roles.kind ? state.roles.kind : first ? guessedKind(first) : { kind: "number" }, drop_missing: Boolean(state.roles?.drop_missing) };
}

const guessedKind = (column) => ({ kind: column.guess?.kind ?? (column.type === "number" ? "number" : "categories"), round_to: null, unit: "", levels: null, hierarchy: null });
const usedRole = (roles, name) => (roles.confidential === name ? "confidential" : roles.keys?.includes(name) ? "key" : roles.weights === name ? "weights" : "leave_out");

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
    const fresh = await put("/api/roles", { confidential: named("confidential")[0], kind: now.kind, keys: named("key"), weights: named("weights")[0] ?? null, drop_missing: now.drop_missing });
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
