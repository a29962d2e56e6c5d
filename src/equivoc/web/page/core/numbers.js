// Numbers as a reader expects them: thousands separated, few digits, a unit beside them.

/** A number with about four significant digits: 0.5312, 2,027, 1.2 million stays 1,200,000. */
export function figure(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  if (Number.isInteger(value) || Math.abs(value) >= 1000) return Math.round(value).toLocaleString("en-GB").replace("-", "−");
  if (value !== 0 && Math.abs(value) < 1e-4) return value.toExponential(2).replace("-", "−");
  return Number(value.toPrecision(4)).toLocaleString("en-GB", { maximumFractionDigits: 6 }).replace("-", "−");
}

/** Bits with three decimals. */
export const bits = (value) => (value === null || value === undefined ? "–" : value.toFixed(3).replace("-", "−"));

/** A share as a percentage with one decimal; with more if it would look like nobody (0.0 %) or everybody (100.0 %). */
export function percent(share) {
  if (share === null || share === undefined) return "–";
  for (let decimals = 1; decimals < 7; decimals += 1) {
    const text = (100 * share).toFixed(decimals);
    if (share <= 0 || share >= 1 || (Number(text) > 0 && Number(text) < 100)) return `${text} %`;
  }
  return `${(100 * share).toPrecision(2)} %`;
}

export const count = (value) => Math.round(value).toLocaleString("en-GB");

/** "1 person", "2,500 people". */
export function people(value) {
  return `${count(value)} ${Math.round(value) === 1 ? "person" : "people"}`;
}

export function counted(value, one, many = `${one}s`) {
  return `${count(value)} ${Math.round(value) === 1 ? one : many}`;
}

export function bytes(value) {
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
  let at = 0;
  while (value >= 1024 && at < units.length - 1) {
    value /= 1024;
    at += 1;
  }
  return `${at && value < 100 ? value.toFixed(1) : Math.round(value)} ${units[at]}`;
}

/** "a, b and c" */
export function listed(words) {
  if (words.length < 2) return words.join("");
  return `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}

/** A long text cut in the middle of a line; the full text belongs into a title or a details element. */
export const clipped = (text, most = 60) => (String(text).length <= most ? String(text) : `${String(text).slice(0, most - 1)}…`);
