// An address for another browser: with a token of its own, which works once.

import { post } from "../core/api.js";
import { h } from "../core/elements.js";
import { fail } from "../core/store.js";
import { update } from "../core/update_in_place.js";
import { codeBox } from "./code_box.js";
import { button } from "./controls.js";

export function offerEntrance(place) {
  const show = (address = "") => update(place, [
    button("Open in another browser", make, { kind: "quiet", name: "another-browser" }),
    address ? codeBox("Open this address there; it works once", address, "entrance") : null,
  ]);
  const make = async () => {
    try {
      const { path } = await post("/api/entrance");
      show(location.origin + path);
    } catch (failure) {
      fail(failure);
    }
  };
  show();
}
