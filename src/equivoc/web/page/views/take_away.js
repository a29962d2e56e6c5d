// Take away: the protected file with its certificate, the report, the plan, and the calls that repeat all of it.

import { h, parts } from "../core/elements.js";
import { call, result } from "../core/answers.js";
import { clipped } from "../core/numbers.js";
import { button, card } from "../parts/controls.js";
import { codeBox } from "../parts/code_box.js";
import { busy, files, jobCard, latest, start } from "../parts/jobs.js";

export function takeAwayView(state) {
  return parts(
    h("div", { class: "side-by-side", key: "made" },
      made(state, "protect", "The protected file", "The file as the technique releases it, and a certificate: what was done, with which figures, and fingerprints of both files. Anyone with both files can check it with equivoc verify.", "Make the protected file"),
      made(state, "report", "The report", "One page with every figure, chart and assumption. It opens in any browser, without a network.", "Make the report")),
    callsCard(state));
}

function made(state, kind, title, lead, verb) {
  const job = latest(state, kind);
  const { technique, known, require, prior, eps } = state.view;
  const seed = kind === "protect" ? null : state.view.seed; // a seed that can be guessed would undo random changes
  const none = kind === "protect" && technique === "unprotected";
  return card({ title, lead },
    h("p", { class: "soft" }, "Technique: ", h("code", { title: technique }, clipped(technique, 80)), seed === null ? ", drawn anew with a secret seed: its figures can differ a little from those above. " : `, seed ${seed ?? 0}. `, h("a", { href: "#techniques" }, "Change it")),
    none ? h("p", { class: "note" }, "The file as it is needs no protection step. Choose a technique first.") : null,
    h("div", { class: "actions" }, button(verb, () => start({ kind, technique, known, require, seed, prior, eps }), { kind: "primary", disabled: none || busy(job), name: kind })),
    jobCard(job), job?.status === "done" ? parts(said(job, kind), files(job)) : null);
}

function said(job, kind) {
  if (kind !== "protect") return null;
  const { value } = result(job);
  if (!value?.sentence) return null;
  return h("p", { class: `note ${value.meets === false ? "problem" : ""}`, role: "status" }, value.sentence);
}

function callsCard(state) {
  const of = (kind) => { const job = latest(state, kind); return job?.status === "done" ? call(kind, state, job) : null; };
  const compared = of("compare") ?? (state.settings.length ? call("compare", state) : null);
  const protect = state.view.technique === "unprotected" ? null : call("protect", state);
  const shown = [["assess", "The figures on the screen", call("assess", state)], ["together", "All confidential attributes together", state.roles.also?.length ? call("together", state) : null], ["protect", "The protected file", protect], ["compare", "The comparison", compared],
    ["choose", "The mildest setting", of("choose")], ["audit", "The audit of queries", of("audit")], ["table", "The table", of("table")]].filter(([, , each]) => each);
  return card({ title: "The same without this page", lead: "These calls give the figures that are on the screen." },
    shown.map(([name, title, each]) => h("div", { key: name, class: "calls" },
      h("h3", { class: "calls-title" }, title),
      each.value ? parts(
        each.value.command ? codeBox("Command line", each.value.command, `${name}-command`) : null,
        name === "audit" ? codeBox("The file log.sql", latest(state, "audit").request.statements, "audit-log") : null,
        each.value.python ? codeBox("Python", each.value.python, `${name}-python`) : null,
        each.value.plan ? parts(codeBox("Plan (TOML)", each.value.plan, `${name}-plan`), planFile(each.value.plan, name)) : null)
        : h("p", { class: "soft", role: "status" }, each.problem || "Writing the calls…"))));
}

function planFile(text, name) {
  return button("Download plan.toml", () => {
    const link = h("a", { href: URL.createObjectURL(new Blob([text], { type: "application/toml" })), download: "plan.toml" });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }, { name: `plan-${name}` });
}
