// Answers that follow the state: the assessment, the explorer, the catalogue, results of jobs. Each is asked for again
// when what it depends on has changed; what is on the screen stays until the new answer is there.

import { get, post } from "./api.js";
import { changed, fail, settled, store } from "./store.js";

class Followed {
  constructor(ask, wait = 0) {
    Object.assign(this, { ask, wait, key: null, wanted: null, value: null, problem: "", busy: false, timer: 0 });
  }

  /** Asks if the question is new. Questions that come while one is open wait; only the last of them is asked. */
  follow(question) {
    const key = JSON.stringify(question);
    if (key === this.wanted) return this;
    this.wanted = key;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.run(), this.wait);
    return this;
  }

  async run() {
    if (this.busy || this.wanted === this.key) return;
    this.busy = true;
    const key = this.wanted;
    try {
      const value = await this.ask(JSON.parse(key));
      Object.assign(this, { value, problem: "", key });
    } catch (failure) {
      Object.assign(this, { problem: failure.message, key });
      if (failure.status === 0 || failure.status === 401) {
        this.wanted = this.key = null; // ask again when the server is back
        fail(failure);
      }
    } finally {
      this.busy = false;
      if (this.wanted !== null && this.wanted !== this.key) this.run();
    }
    changed();
  }

  get current() {
    return this.key !== null && this.key === this.wanted;
  }
}

const assess = new Followed((question) => post("/api/live/assess", question.asked), 120);
const explore = new Followed((question) => post("/api/live/explore", { ...question.asked, curve: true }));
const catalogue = new Followed(() => get("/api/catalogue"));
const classes = new Followed(() => settled().then(() => get("/api/live/classes")));
const proposals = new Followed((question) => settled().then(() => post("/api/live/limits", question.asked)), 200);
const calls = new Map();
const results = new Map();

/** What identifies the people: a new file, another reading or other roles make every answer stale. */
const peopleKey = (state) => ({ reading: state.reading?.asked, roles: state.roles, file: state.file?.name, bytes: state.file?.bytes, records: state.people?.records });
export const hasPeople = (state) => Boolean(state?.people && !state.people.error);

function asked(state) {
  const { technique, known, eps, seed, prior } = state.view;
  return { technique, known, eps, seed, prior };
}

export function assessed(state) {
  if (!hasPeople(state)) return assess;
  assess.follow({ people: peopleKey(state), asked: { ...asked(state), require: state.view.require } });
  return assess;
}

export function explored(state) {
  if (!hasPeople(state)) return explore;
  return explore.follow({ people: peopleKey(state), asked: { ...asked(state), class: state.view.class ?? null } });
}

export function catalogued(state) {
  if (!hasPeople(state)) return catalogue;
  return catalogue.follow(peopleKey(state));
}

export function levels(state) {
  if (!hasPeople(state)) return classes;
  return classes.follow({ ...peopleKey(state), known: state.view.known });
}

/** For each figure, a limit to propose: between nothing released and the file as it is. */
export function limits(state) {
  if (!hasPeople(state)) return proposals;
  const { known, eps, prior } = state.view;
  return proposals.follow({ people: peopleKey(state), asked: { known, eps, prior } });
}

/** The facts to show: those of the strongest intruder as soon as they are there, until then the informed one's. */
export function shownFacts(state) {
  const found = assessed(state);
  const live = found.value;
  if (!live) return { facts: null, utility: null, mark: "none", problem: found.problem, current: found.current };
  const pointer = state.strongest;
  const job = pointer && pointer.key === live.key ? state.jobs.find((each) => each.id === pointer.job) : null;
  const stronger = job?.status === "done" ? result(job).value : null;
  const mark = stronger ? "strongest" : job && ["waiting", "running"].includes(job.status) ? "computing" : "informed";
  const shown = stronger ?? live;
  return { facts: shown.facts, utility: shown.utility ?? live.utility, note: live.utility_note, mark, problem: found.problem, current: found.current };
}

/** The result of a finished job, fetched once. */
export function result(job) {
  const key = `${job.id}`;
  if (!results.has(key)) results.set(key, new Followed(() => get(job.result)));
  const found = results.get(key);
  if (job.result) found.follow(job.result);
  return found;
}

/** The Python and command-line calls that repeat what is on the screen; with a job, those that repeat the job. */
export function call(what, state, job = null) {
  if (!calls.has(what)) calls.set(what, new Followed(({ request }) => settled().then(() => post("/api/calls", { what, ...request })), 200));
  return calls.get(what).follow({ view: state.view, settings: state.settings, reading: state.reading?.asked, roles: state.roles, file: state.file?.name, request: job?.request ?? {} });
}

/** After the server was gone: everything is asked for again. */
export function askAgain() {
  for (const each of [assess, explore, catalogue, classes, proposals, ...calls.values()]) each.wanted = each.key = null;
  store.problem = "";
}
