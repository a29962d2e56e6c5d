// Long work: its progress, how it ends, and buttons to cancel, continue or dismiss it.

import { h, parts } from "../core/elements.js";
import { post, remove } from "../core/api.js";
import { bytes, count } from "../core/numbers.js";
import { fail, refresh, settled } from "../core/store.js";
import { button } from "./controls.js";

export const busy = (job) => Boolean(job) && ["waiting", "running"].includes(job.status);

/** The latest job of a kind about the attribute on the screen, or undefined. */
export const latest = (state, ...kinds) => state.jobs.filter((job) => kinds.includes(job.kind) && [undefined, state.roles?.confidential].includes(job.request?.attribute)).at(-1);

/** Starts a job after the changes on the screen have reached the server. */
export async function start(body) {
  try {
    await settled();
    await post("/api/jobs", body);
    await refresh();
  } catch (failure) {
    fail(failure);
  }
}

const act = (what) => async () => {
  try {
    await what();
    await refresh();
  } catch (failure) {
    fail(failure);
  }
};

export function jobCard(job) {
  if (!job) return null;
  const running = busy(job);
  const words = { waiting: "Waiting", running: "Working", done: "Done", failed: "It failed", cancelled: "Cancelled", interrupted: "Interrupted: the server stopped while it worked" };
  return h("div", { class: `job ${job.status}`, key: `job-${job.id}`, "data-job": job.status, "data-kind": job.kind },
    h("p", { role: "status", class: "job-text" }, h("strong", {}, words[job.status]), job.text && job.text !== job.status ? `: ${job.text}` : ""),
    running ? h("div", { class: "job-progress" },
      h("progress", { max: job.total || 1, value: job.total ? job.done : null, "aria-label": job.title || "Progress" }),
      h("span", { class: "soft" }, job.total > 1 ? `${count(job.done)} of ${count(job.total)}` : ""),
      button("Cancel", act(() => post(`/api/jobs/${job.id}/cancel`)), { kind: "quiet", name: `cancel-${job.kind}` })) : null,
    ["interrupted", "cancelled"].includes(job.status) && job.kind !== "strongest" ? button("Continue", act(() => post(`/api/jobs/${job.id}/resume`)), { name: `resume-${job.kind}` }) : null,
    running ? null : button("Dismiss", act(() => remove(`/api/jobs/${job.id}`)), { kind: "quiet", label: `Dismiss: ${job.title || job.kind}` }));
}

/** Links to the files that a job made. */
export function files(job) {
  if (!job?.files?.length) return null;
  return h("ul", { class: "files" }, job.files.map((file) =>
    h("li", { key: file.name }, h("a", { class: "button", href: file.href, download: file.name }, `Download ${file.name}`), h("span", { class: "soft" }, parts(" ", file.bytes === undefined ? "" : bytes(file.bytes))))));
}
