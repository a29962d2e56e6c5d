// The choice of the intruder for long work: the strongest unless the reader wants a faster answer.

import { selectField } from "./controls.js";

export function intruderField(name, catalogue, { value, change }) {
  return selectField(name, "Intruder", { value, change,
    choices: (catalogue.intruders ?? []).map((each) => [each.name, each.meaning ? `${each.name}: ${each.meaning}` : each.name]),
    hint: "The strongest shows the most risk. The informed one alone is faster, but can make a setting look safer than it is." });
}
