// The risk–utility map, drawn by Vega-Lite from the server's description. "ast" evaluates its expressions without
// eval, which the page's policy forbids.

import { h } from "../core/elements.js";

const OPTIONS = { mode: "vega-lite", renderer: "svg", actions: false, ast: true, defaultStyle: false, tooltip: { disableDefaultStyle: true } };
let loading = null;

/** `open` is called with the number of the point that was clicked. */
export function riskMap(description, key, open) {
  const room = Math.min(8, Math.floor(document.documentElement.clientWidth / 100)); // drawn anew for another width
  const place = h("div", { class: "chart", role: "img", "aria-label": "Map of risk against loss; the table below has the same figures", key: `risk-map-${key}-${room}`, kept: key });
  place.addEventListener("equivoc-draw", () => draw(place, description, open), { once: true });
  queueMicrotask(() => requestAnimationFrame(() => place.isConnected && place.dispatchEvent(new Event("equivoc-draw"))));
  return place;
}

async function draw(place, description, open) {
  try {
    await loaded();
    const { view } = await window.vegaEmbed(place, fitted(description, place.clientWidth), OPTIONS);
    place.dataset.drawn = "yes";
    view.addEventListener("click", (_, item) => {
      const number = item?.datum?.number;
      if (number !== undefined) open(Number(number));
    });
  } catch (failure) {
    place.textContent = "The map cannot be drawn here; the table below has the same figures.";
    console.error(failure);
  }
}

/** Without its title and list of names, which the page writes as text, and no wider than its place. */
function fitted(description, room) {
  const { hconcat, title, ...rest } = description;
  if (!hconcat) return { ...description, background: null };
  return { ...rest, ...hconcat[0], background: null, width: Math.max(180, Math.min(620, room - 110)) };
}

function loaded() {
  loading ??= new Promise((resolve, reject) => {
    if (window.vegaEmbed) return resolve();
    const script = h("script", { src: "/page/charts.js" });
    script.onload = resolve;
    script.onerror = () => reject(new Error("charts.js could not be loaded"));
    document.head.append(script);
  });
  return loading;
}
