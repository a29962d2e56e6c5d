// The views as tabs whose addresses can be kept: #data, #explore, …

import { h } from "./elements.js";
import { update } from "./update_in_place.js";

export const TABS = {
  data: "Data",
  explore: "Explore",
  techniques: "Techniques",
  compare: "Compare and choose",
  queries: "Queries",
  tables: "Tables",
  "take-away": "Take away",
};

/** The tab of the address; without one, where the reader was last. */
export function chosenTab(state) {
  const named = location.hash.slice(1);
  if (Object.hasOwn(TABS, named)) return named;
  return Object.hasOwn(TABS, state?.view?.tab ?? "") ? state.view.tab : "data";
}

export function showTabs(place, chosen) {
  update(place, h("div", { role: "tablist", "aria-label": "Views", class: "tabs", key: "tabs", on: { keydown: move } },
    Object.entries(TABS).map(([name, title]) =>
      h("a", { role: "tab", id: `tab-${name}`, key: name, href: `#${name}`, "aria-selected": String(name === chosen), "aria-controls": "panel", tabindex: name === chosen ? "0" : "-1" }, title))));
}

function move(event) {
  const names = Object.keys(TABS);
  const at = names.indexOf(event.target.id?.slice(4));
  const to = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: names.length - 1 }[event.key];
  if (at < 0 || to === undefined) return;
  event.preventDefault();
  const next = document.getElementById(`tab-${names[(to + names.length) % names.length]}`);
  next.focus();
  location.hash = next.getAttribute("href");
}
