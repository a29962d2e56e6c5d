// Data: open a file, look at its columns, say what each one is.

import { h, parts } from "../core/elements.js";
import { remove, upload } from "../core/api.js";
import { hasPeople } from "../core/answers.js";
import { bytes, clipped, count, counted, figure, percent } from "../core/numbers.js";
import { accept, changed, fail } from "../core/store.js";
import { button, card, fileButton } from "../parts/controls.js";
import { jobCard, latest } from "../parts/jobs.js";
import { hierarchiesCard } from "./hierarchies.js";
import { readingAgain, readingCard } from "./reading.js";
import { rolesCard } from "./roles.js";

const ACCEPTED = ".csv,.tsv,.txt,.dat,.asc,.gz,.zst,.zip,.parquet,.arrow,.feather,.xlsx,.ods,.sav,.por,.dta,.sas7bdat,.xpt,.rds,.rda,.rdata,text/csv";
let sending = null; // {name, sent, total, cancel} while a file is uploaded
let refused = "";
let again = null; // {file, asked}: the file that was refused, and how it is to be read

export function dataView(state) {
  return parts(
    fileCard(state),
    state.file ? jobCard(latest(state, "reading")) : null,
    state.file && state.reading ? readingCard(state) : null,
    state.file && state.columns?.length ? rolesCard(state) : null,
    hasPeople(state) ? readCard(state) : null,
    state.file && state.columns?.length ? hierarchiesCard(state) : null);
}

function fileCard(state) {
  const given = state.file;
  return card({ title: given ? "The file" : "Open a file", lead: given ? null : "Text in any usual form (CSV), Parquet, Excel, SPSS, Stata, SAS, R and others: one row for each person. The file stays on this machine, in a private folder of the server." },
    given ? h("p", {}, h("strong", { class: "clip", title: given.name }, clipped(given.name, 60)), ` ${parts(given.bytes ? bytes(given.bytes) : "", given.rows ? counted(given.rows, "row") : "").join(" · ")}${given.given ? " · given when the server was started" : ""}`) : null,
    sending ? progress() : dropZone(given),
    refused ? h("p", { class: "note problem", role: "alert" }, refused) : null,
    again && !sending ? readingAgain(again.asked, (part) => send(again.file, defined({ ...again.asked, ...part }))) : null,
    given && !sending ? button("Forget this file", async () => { try { accept(await remove("/api/file")); } catch (failure) { fail(failure); } }, { kind: "quiet", name: "forget" }) : null);
}

function dropZone(given) {
  const over = (event) => { event.preventDefault(); event.currentTarget.classList.add("over"); };
  const leave = (event) => event.currentTarget.classList.remove("over");
  const drop = (event) => { event.preventDefault(); leave(event); send(event.dataTransfer.files[0]); };
  return h("div", { class: given ? "drop small" : "drop", key: "drop", on: { dragover: over, dragleave: leave, drop } },
    fileButton(given ? "Open another file" : "Choose a file", (file) => send(file), { kind: "primary", accept: ACCEPTED, name: "open-file" }),
    h("span", { class: "soft" }, " or drop it here"));
}

function progress() {
  const share = sending.total ? sending.sent / sending.total : 0;
  const all = sending.sent >= sending.total;
  return h("div", { class: "job running", key: "sending" },
    h("p", { role: "status", class: "job-text" }, all ? "Uploaded. The columns are being read." : `Uploading ${clipped(sending.name, 40)}`),
    h("div", { class: "job-progress" }, h("progress", { max: 1, value: all ? null : share, "aria-label": "Upload" }),
      h("span", { class: "soft" }, all ? "" : `${percent(share)} of ${bytes(sending.total)}`),
      all ? null : button("Cancel", () => sending?.cancel(), { kind: "quiet", name: "cancel-upload" })));
}

const defined = (asked) => JSON.parse(JSON.stringify(asked)); // without what is undefined

async function send(file, asked = {}) {
  if (!file) return;
  refused = "";
  again = null;
  const { done, cancel } = upload(`/api/upload?name=${encodeURIComponent(file.name)}&reading=${encodeURIComponent(JSON.stringify(asked))}`, file, (sent, total) => {
    if (sending) Object.assign(sending, { sent, total });
    changed();
  });
  sending = { name: file.name, sent: 0, total: file.size, cancel };
  changed();
  try {
    accept(await done);
    document.getElementById("announced").textContent = `${clipped(file.name, 60)} is uploaded.`;
  } catch (failure) {
    refused = failure.message;
    if (failure.status === 400) again = { file, asked };
    if (failure.status === 401) fail(failure);
  } finally {
    sending = null;
    changed();
  }
}

function readCard(state) {
  const { records, classes, values, low, high } = state.people;
  const { confidential, keys, kind } = state.roles;
  const range = low === null || low === undefined ? "" : ` from ${figure(low)} to ${figure(high)}${kind?.unit ? ` ${kind.unit}` : ""}`;
  return card({ title: "Read", class: "quiet-card" },
    h("p", {}, `${count(records)} people. ${clipped(confidential, 40)} has ${counted(values, "different value")}${range}. By the ${counted(keys.length, "key")} together they fall into ${counted(classes, "class", "classes")} of people who are alike.`),
    (state.people.remarks ?? []).filter((remark) => remark !== state.people.reading?.sentence).map((remark, at) => h("p", { class: "note", key: `remark-${at}` }, remark)),
    h("p", {}, h("a", { class: "button primary", href: "#explore" }, "See the risk"), " ", h("a", { class: "button", href: "#techniques" }, "Try protections")));
}
