// Code to copy, with a button that says whether it worked.

import { h } from "../core/elements.js";
import { button } from "./controls.js";

export function codeBox(title, text, name) {
  return h("div", { class: "code-box", key: `code-${name}` },
    h("div", { class: "code-head" }, h("h4", {}, title), button("Copy", (event) => copy(text, event.currentTarget), { kind: "quiet", label: `Copy: ${title}`, name: `copy-${name}` })),
    h("pre", { tabindex: "0", role: "group", "aria-label": title, "data-code": name }, h("code", {}, text)));
}

async function copy(text, pressed) {
  let worked = true;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    worked = copyBySelection(text);
  }
  document.getElementById("announced").textContent = worked ? "Copied." : "Copying is not allowed here; select the text instead.";
  pressed.textContent = worked ? "Copied" : "Select the text";
  setTimeout(() => (pressed.textContent = "Copy"), 2000);
}

function copyBySelection(text) {
  const area = h("textarea", { class: "unseen", value: text });
  document.body.append(area);
  area.select();
  const worked = document.execCommand("copy");
  area.remove();
  return worked;
}
