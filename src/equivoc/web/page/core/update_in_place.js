// Makes the children of an element equal to new ones without replacing what stays the same: focus, the caret, typed
// text, scroll positions and opened details survive.

import { listen, parts } from "./elements.js";

const OWN = { DETAILS: ["open"], DIALOG: ["open"] }; // attributes that the reader changes, not the program

/** Notes which field the reader is typing into; its text is left alone until she leaves it. */
export function watchTyping(root) {
  root.addEventListener("input", (event) => (event.target.typing = true), true);
  for (const type of ["change", "blur"])
    root.addEventListener(type, (event) => (event.target.typing = false), true);
}

export function update(element, ...fresh) {
  const old = Array.from(element.childNodes);
  const wanted = parts(fresh).map((each) => (each instanceof Node ? each : document.createTextNode(String(each))));
  const byKey = new Map(old.filter((node) => name(node)).map((node) => [name(node), node]));
  const free = old.filter((node) => !name(node));
  let place = element.firstChild;
  for (const node of wanted) {
    const found = name(node) ? byKey.get(name(node)) : take(free, node);
    byKey.delete(name(node));
    const used = found && alike(found, node) ? merged(found, node) : node;
    if (used === place) place = place.nextSibling;
    else element.insertBefore(used, place);
  }
  while (place) {
    const next = place.nextSibling;
    place.remove();
    place = next;
  }
}

const name = (node) => node.key ?? (node.id || undefined);
const alike = (one, other) => one.nodeType === other.nodeType && one.nodeName === other.nodeName && one.type === other.type;

function take(free, node) {
  const at = free.findIndex((each) => alike(each, node));
  return at < 0 ? undefined : free.splice(0, at + 1).at(-1);
}

function merged(old, fresh) {
  if (old.nodeType === Node.TEXT_NODE) {
    if (old.data !== fresh.data) old.data = fresh.data;
    return old;
  }
  if (fresh.kept !== undefined && fresh.kept === old.kept) return old;
  const own = OWN[old.nodeName] ?? [];
  for (const { name: attribute } of Array.from(old.attributes))
    if (!fresh.hasAttribute(attribute) && !own.includes(attribute)) old.removeAttribute(attribute);
  for (const { name: attribute, value } of Array.from(fresh.attributes))
    if (old.getAttribute(attribute) !== value && !own.includes(attribute)) {
      if (attribute === "style") old.style.cssText = fresh.style.cssText;
      else old.setAttribute(attribute, value);
    }
  for (const type of Object.keys(old.acts ?? {})) if (!fresh.acts?.[type]) old.acts[type] = undefined;
  for (const [type, act] of Object.entries(fresh.acts ?? {})) listen(old, type, act);
  old.kept = fresh.kept;
  update(old, ...Array.from(fresh.childNodes));
  if (fresh.wanted) setWanted(old, fresh.wanted);
  return old;
}

function setWanted(element, wanted) {
  element.wanted = wanted;
  if (element.typing && document.activeElement === element) return;
  for (const [property, value] of Object.entries(wanted)) if (element[property] !== value) element[property] = value;
}
