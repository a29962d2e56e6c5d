// The state that all windows share: fetched from the server, changed by patches, and asked for again and again. An open
// stream of events would do too, but a browser holds six connections to a server, and so the seventh window never loads.

import { get, patch } from "./api.js";

const WAIT_TO_SEND = 120; // ms; moves of a slider within this time are sent together
const RHYTHM = { busy: 500, open: 1000, hidden: 5000 }; // ms between two questions for the state

export const store = {
  state: null,
  connection: "connecting", // "connecting", "open", "gone" or "refused"
  problem: "", // the last sentence that the server said about a change
};

const watchers = [];
let unsent = null; // changes not yet sent; shown at once, and kept over states that arrive meanwhile
let timer = 0;
let sending = 0;
let next = 0;

export function watch(act) {
  watchers.push(act);
}

export function changed() {
  for (const act of watchers) act();
}

/** Takes a state that the server answered with. Older ones than the shown are ignored. */
export function accept(state) {
  if (!state || (store.state && state.revision < store.state.revision && state.started === store.state.started)) return;
  store.state = unsent ? merge(state, unsent) : state;
  changed();
}

/** Changes the shared state: on the screen at once, on the server soon after. */
export function change(part) {
  unsent = unsent ? merge(unsent, part, true) : part;
  store.state = merge(store.state, part);
  changed();
  clearTimeout(timer);
  timer = setTimeout(send, WAIT_TO_SEND);
}

async function send() {
  if (!unsent || sending) return;
  const part = unsent;
  sending += 1;
  try {
    const state = await patch("/api/state", part);
    if (unsent === part) unsent = null;
    store.problem = "";
    accept(state);
  } catch (failure) {
    if (unsent === part) unsent = null;
    fail(failure);
  } finally {
    sending -= 1;
    if (unsent) timer = setTimeout(send, WAIT_TO_SEND);
  }
}

/** Resolves when no change is waiting to be sent. */
export async function settled() {
  while (unsent || sending) {
    clearTimeout(timer);
    if (!sending) await send();
    else await new Promise((resolve) => setTimeout(resolve, 30));
  }
}

/** Shows a problem: a banner if the server is gone or refuses, otherwise its sentence. */
export function fail(failure) {
  if (failure.name === "AbortError") return;
  if (failure.status === 401) store.connection = "refused";
  else if (failure.status === 0) store.connection = store.connection === "refused" ? "refused" : "gone";
  else store.problem = failure.message;
  changed();
}

export async function refresh() {
  const seen = store.state ? `?seen=${encodeURIComponent(store.state.mark)}` : "";
  try {
    const state = await get(`/api/state${seen}`); // null: it is the one that is shown
    const back = store.connection !== "open";
    store.connection = "open";
    if (state) accept(state);
    else if (back) changed();
  } catch (failure) {
    fail(failure);
  }
}

/** Fetches the state again and again: more often while a job runs, less often while nobody looks. */
export async function follow() {
  clearTimeout(next);
  await refresh();
  clearTimeout(next);
  next = setTimeout(follow, rhythm());
}

function rhythm() {
  if (document.hidden) return RHYTHM.hidden;
  return store.state?.jobs.some((job) => ["waiting", "running"].includes(job.status)) ? RHYTHM.busy : RHYTHM.open;
}

document.addEventListener("visibilitychange", () => {
  if (!document.hidden) follow();
});

/** A JSON merge patch: null deletes. `keepNulls` joins two patches into one. */
export function merge(whole, part, keepNulls = false) {
  if (part === null || typeof part !== "object" || Array.isArray(part)) return part;
  // A Map, because a name can be __proto__.
  const result = new Map(whole && typeof whole === "object" && !Array.isArray(whole) ? Object.entries(whole) : []);
  for (const [name, value] of Object.entries(part)) {
    if (value === null && !keepNulls) result.delete(name);
    else if (value === null) result.set(name, null);
    else result.set(name, merge(result.get(name), value, keepNulls));
  }
  return Object.fromEntries(result);
}
