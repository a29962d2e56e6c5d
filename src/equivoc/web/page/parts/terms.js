// Short explanations of technical terms, shown when the reader clicks a term.

import { h } from "../core/elements.js";

const MEANINGS = {
  intruder: "Somebody who looks at what you publish, knows a few things about a person (such as age and sex), and wants to learn that person's confidential value.",
  exposed: "People whose true value the intruder considers very likely: she gives it a probability above 71 %, which is less than half a bit of surprise. Fewer is safer.",
  hit: "The intruder names one range of width ε. This is how often the true value lies within half of ε of her best guess. Lower is safer.",
  "hit she expects": "The probability that she herself gives to her best range of width ε. It can be wrong: compare it with how often she is right. Lower is safer.",
  "ε": "The tolerance: how close a guess must be to count. With ε = 200, a guess within ±100 of the true value counts as right. 0 means the exact value.",
  bit: "The unit of uncertainty. 0 bits: she knows the value. 1 bit: as unsure as between two equally likely values; 2 bits: four; 3 bits: eight; and so on.",
  "H(ε)": "How unsure the intruder is, in bits, if knowing the value to within ε is enough for her. 0 means she knows it. Higher is safer.",
  "T(ε)": "How much the true values surprise her, in bits, on average over people. It compares what she believes with the truth. Where T is below H, she is right more often than she believes. Higher is safer.",
  area: "The area under H(ε): her uncertainty over all tolerances together. Values that lie far apart count more than close ones. Higher is safer.",
  "given away": "The share of the surprise of the true values that the release takes away, compared with publishing nothing. 0 %: the release tells nothing. 100 %: every value is known. Lower is safer.",
  "without release": "What she knows if nothing is published: only the general distribution of the values (the prior).",
  unprotected: "The file published as it is. A protection should be clearly safer than this.",
  key: "A column that an intruder may already know about a person, such as age, sex or postcode. Also called quasi-identifier.",
  confidential: "The column that must not be learnt about a person, such as a wage or a diagnosis.",
  class: "All people who are alike in the keys that she knows. She cannot tell them apart by what she knows.",
  posterior: "The probabilities that the intruder gives to each possible value after she has seen the release.",
  window: "Neighbouring values at most ε apart that count as one, because she only needs the value to within ε. The windows shown are those that leave the least uncertainty.",
  informed: "An intruder who knows the technique and its parameters, the general distribution of the values, and how many people share the known keys, and draws the best conclusion from that.",
  strongest: "Of several intruders (informed, with a register of all people, learning from the release), the one who comes closest to the true values.",
  "certain and right": "People about whom the intruder has no doubt left, and whose value she has right. 0 is safe.",
  loss: "How much the protection damages the file for honest use. 0 for the file as it is; lower is more useful.",
  front: "A setting is on the front if no other setting has both less risk and less loss.",
  "unsafe cell": "A cell of a table from which somebody could estimate one contributor too closely, by the rule that you choose.",
  hierarchy: "For each value the coarser groups it belongs to, such as 37 → 35–39 → 30–39. Techniques use it to make values less detailed.",
};

/** A term that explains itself when clicked. */
export function term(name, shown = name) {
  return h("button", { type: "button", class: "term", "aria-describedby": "term-hint", on: { click: (event) => explain(event.currentTarget, name) } }, shown);
}

function explain(button, name) {
  const box = document.getElementById("explained");
  const again = box.about === button && box.matches(":popover-open");
  if (box.matches(":popover-open")) box.hidePopover();
  if (again) return;
  box.about = button;
  box.replaceChildren(h("p", {}, h("strong", {}, `${name} `), MEANINGS[name]));
  box.showPopover();
  const at = button.getBoundingClientRect();
  const width = Math.min(352, window.innerWidth - 24);
  box.style.setProperty("width", `${width}px`);
  box.style.setProperty("left", `${Math.max(12, Math.min(at.left, window.innerWidth - width - 12))}px`);
  const below = at.bottom + 8;
  const fits = below + box.offsetHeight < window.innerHeight;
  box.style.setProperty("top", `${fits ? below : Math.max(12, at.top - box.offsetHeight - 8)}px`);
}
