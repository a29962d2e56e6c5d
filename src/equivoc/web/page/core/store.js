// The state that all windows share: fetched from the server, changed by patches, followed by server-sent events.

import { get, patch } from "./api.js";

const WAIT_TO_SEND = 120; // ms; moves of a slider within this time are sent together
const WAIT_TO_CONNECT = 1000;

export const store = {
  state: null,
  connection: "connecting", // "connecting", "open", "gone" or "refused"
  problem: "", // the last sentence that the server said about a change
};

const watchers = [];
let unsent = null; // changes not yet sent; shown at once, and kept over states that arrive meanwhile
let timer = 0;
let sending = 0;

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
  try {
    const state = await get("/api/state");
    if (store.connection !== "open") store.connection = "open";
    accept(state);
  } catch (failure) {
    fail(failure);
  }
}

/** Fetches the state, then follows the events; connects again when the server comes back. */
export async function follow() {
  await refresh();
  if (store.connection !== "open") {
    setTimeout(follow, WAIT_TO_CONNECT);
    return;
  }
  const events = new EventSource("/api/events");
  events.addEventListener("state", () => refresh());
  events.onerror = () => {
    events.close();
    if (store.connection === "open") store.connection = "gone";
    changed();
    setTimeout(follow, WAIT_TO_CONNECT);
  };
}

/** A JSON merge patch: null deletes. `keepNulls` joins two patches into one. */
export function merge(whole, part, keepNulls = false) {
  if (part === null || typeof part !== "object" || Array.isArray(part)) return part;
  const result = whole && typeof whole === "object" && !Array.isArray(whole) ? { ...whole } : {};
  for (const [name, value] of Object.entries(part)) {
    if (value === null && !keepNulls) delete result[name];
    else if (value === null) result[name] = null;
    else result[name] = merge(result[name], value, keepNulls);
  }
  return result;
}
