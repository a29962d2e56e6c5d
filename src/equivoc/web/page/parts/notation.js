// The notation of techniques, such as swapping:rate=0.3,on=age+sex: taken apart into name and parameters, and put
// together again. Which parameters there are comes from the server's catalogue.

/** {name, values: {parameter: text}} */
export function parse(notation) {
  const colon = notation.indexOf(":");
  if (colon < 0) return { name: notation.trim(), values: Object.create(null) };
  const values = Object.create(null);
  for (const item of split(notation.slice(colon + 1), ",")) {
    const equals = item.indexOf("=");
    if (equals > 0) values[item.slice(0, equals).trim()] = item.slice(equals + 1).trim();
  }
  return { name: notation.slice(0, colon).trim(), values };
}

/** Only parameters that differ from their default, or have none, are written. */
export function compose(technique, values) {
  const written = technique.parameters
    .filter(({ name }) => values[name] !== undefined && values[name] !== null && values[name] !== "")
    .filter(({ name, required, default: usual }) => required || String(values[name]) !== String(usual))
    .map(({ name }) => `${name}=${values[name]}`);
  return written.length ? `${technique.name}:${written.join(",")}` : technique.name;
}

/** Column names joined by "+", quoted where needed. */
export const joined = (names) => names.map(quoted).join("+");
export const unjoined = (text) => (text ? split(text, "+").map(unquoted) : []);

function quoted(name) {
  const plain = !/[,+:|;"]/.test(name) && name.trim() === name && name !== "" && Number.isNaN(Number(name));
  return plain ? name : `"${name.replaceAll('"', '""')}"`;
}

function unquoted(text) {
  const bare = text.trim();
  return bare.startsWith('"') && bare.endsWith('"') && bare.length > 1 ? bare.slice(1, -1).replaceAll('""', '"') : bare;
}

/** Splits at a sign that is not between double quotes. */
function split(text, sign) {
  const found = [""];
  let inside = false;
  for (const letter of text) {
    if (letter === '"') inside = !inside;
    if (letter === sign && !inside) found.push("");
    else found[found.length - 1] += letter;
  }
  return found.filter((each) => each.trim());
}
