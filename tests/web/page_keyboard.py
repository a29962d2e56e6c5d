"""A person who has no mouse: keys are pressed, and what has the focus is read; nothing is clicked or filled."""

from __future__ import annotations

from typing import Any

MOST_PRESSES = 200


class Keyboard:
    """The keyboard of one page."""

    def __init__(self, page: Any) -> None:
        self.page = page

    def press(self, *keys: str) -> None:
        """One key after another."""
        for key in keys:
            self.page.keyboard.press(key)

    def at(self) -> str:
        """The text of what has the focus."""
        return str(self.page.evaluate("() => document.activeElement.innerText"))

    def tab_to(self, selector: str, key: str = "Tab") -> None:
        """Press Tab until this has the focus; it must be seen then."""
        for _ in range(MOST_PRESSES):
            if self._is_at(selector):
                assert self.page.evaluate(SEEN), f"{selector} has the focus, but it cannot be seen"
                return
            self.press(key)
        raise AssertionError(f"Tab does not lead to {selector}")

    def back_to(self, selector: str) -> None:
        """Press Shift and Tab until this has the focus."""
        self.tab_to(selector, "Shift+Tab")

    def choose(self, group: str, value: str) -> None:
        """Tab to a group of radio buttons, and choose one with the arrow keys."""
        self.tab_to(group)
        for _ in range(8):
            if self.page.evaluate("() => document.activeElement.value") == value:
                return
            self.press("ArrowRight")
        raise AssertionError(f"the arrow keys do not lead to {value}")

    def write(self, text: str) -> None:
        """Replace the text of the field."""
        self.press("Control+a")
        self.page.keyboard.type(text)

    def _is_at(self, selector: str) -> bool:
        return bool(self.page.evaluate("selector => document.activeElement.matches(selector)", selector))


SEEN = """() => {
  const outlined = (element) => {
    const style = element && getComputedStyle(element);
    return style && style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
  };
  const focused = document.activeElement;
  const box = focused.getBoundingClientRect();
  const inside = box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth;
  const marked = [focused, focused.nextElementSibling, focused.previousElementSibling, focused.closest("label")];
  return inside && marked.some(outlined);
}"""
"""True if the focus is in the window and has an outline: its own, or that of its label beside it."""
