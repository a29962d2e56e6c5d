// Starts the page: follows the shared state and shows the view that the address names.

import { h, parts } from "./core/elements.js";
import { askAgain, hasPeople } from "./core/answers.js";
import { bytes, clipped, counted, people } from "./core/numbers.js";
import { change, follow, store, watch } from "./core/store.js";
import { chosenTab, showTabs, TABS } from "./core/tabs.js";
import { update, watchTyping } from "./core/update_in_place.js";
import { offerEntrance } from "./parts/another_browser.js";
import { attributeChooser } from "./parts/attribute.js";
import { button } from "./parts/controls.js";
import { verdict } from "./parts/verdict.js";
import { compareView } from "./views/compare.js";
import { dataView } from "./views/data.js";
import { exploreView } from "./views/explore.js";
import { queriesVerdict, queriesView } from "./views/queries.js";
import { tablesVerdict, tablesView } from "./views/tables.js";
import { takeAwayView } from "./views/take_away.js";
import { techniquesView } from "./views/techniques.js";

const VIEWS = { data: dataView, explore: exploreView, techniques: techniquesView, compare: compareView, queries: queriesView, tables: tablesView, "take-away": takeAwayView };
const VERDICTS = { queries: queriesVerdict, tables: tablesVerdict };
let drawing = 0;
let wasGone = false;

function draw() {
  drawing ||= requestAnimationFrame(() => {
    drawing = 0;
    render();
  });
}

function render() {
  const { state } = store;
  update(document.getElementById("banner"), banner());
  if (!state) return;
  if (wasGone && store.connection === "open") askAgain();
  wasGone = store.connection === "gone";
  const tab = chosenTab(state);
  showTabs(document.getElementById("tabs"), tab);
  document.title = `${TABS[tab]} · equivoc`;
  update(document.getElementById("about"), about(state));
  const view = hasPeople(state) || tab === "data" ? VIEWS[tab](state) : [needsPeople()];
  update(document.getElementById("main"),
    h("div", { role: "tabpanel", id: "panel", "aria-labelledby": `tab-${tab}`, "data-view": tab },
      h("h1", {}, TABS[tab]), hasPeople(state) ? attributeChooser(state) : null, (hasPeople(state) && VERDICTS[tab] ? VERDICTS[tab] : verdict)(state), problem(), h("div", { class: `view view-${tab}`, key: tab }, view)));
  document.documentElement.dataset.ready = tab;
}

function banner() {
  if (store.connection === "refused")
    return h("p", { class: "banner" }, h("strong", {}, "The server does not know this window. "), "Open the address that ", h("code", {}, "equivoc serve"), " printed in the terminal where it was started; it works once, and Enter in the terminal prints another.");
  if (store.connection === "gone")
    return h("p", { class: "banner" }, h("strong", {}, "The server does not answer. "), "It may have been stopped. After a crash nothing is lost: start it again as before, and use the window that it opens. This page tries again every second.");
  return null;
}

function problem() {
  if (!store.problem) return null;
  return h("div", { class: "note problem", role: "alert" }, h("p", {}, store.problem), button("Close", () => { store.problem = ""; draw(); }, { kind: "quiet", label: "Close the message" }));
}

function about(state) {
  if (!state.file) return "How precisely could an intruder learn a confidential value?";
  const what = hasPeople(state) ? `${people(state.people.records)}, ${counted(state.roles.keys.length, "key")}` : bytes(state.file.bytes);
  return parts(h("strong", { title: state.file.name }, clipped(state.file.name, 40)), ` · ${what}`);
}

function needsPeople() {
  return h("p", { class: "said" }, "This view needs people: ", h("a", { href: "#data" }, "open a file and say what is confidential"), ".");
}

function toContent() {
  document.getElementById("main").focus({ preventScroll: true });
  window.scrollTo(0, 0);
}

window.addEventListener("hashchange", () => {
  const tab = chosenTab(store.state);
  if (store.state && store.state.view?.tab !== tab) change({ view: { tab } });
  draw();
  // A link within a view leads to the top of another one; with the tabs, the focus stays on the tab.
  if (document.activeElement?.role !== "tab") toContent();
});
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault(); // #main is no view
  toContent();
});
window.addEventListener("resize", draw);
watch(draw);
watchTyping(document);
offerEntrance(document.getElementById("another-browser"));
follow();
