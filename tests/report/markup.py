"""What a page consists of, as an HTML parser sees it."""

from __future__ import annotations

from html.parser import HTMLParser


class Markup(HTMLParser):
    """Collects elements with their attributes, the text of scripts, and all other text."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self.text = ""
        self._script: dict[str, str | None] | None = None
        self._in_style = False
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._in_style = tag == "style"
        if tag == "script":
            self._script = dict(attrs)

    def handle_data(self, data: str) -> None:
        if self._script is not None:
            self.scripts.append((self._script, data))
        elif not self._in_style:
            self.text += data

    def handle_endtag(self, tag: str) -> None:
        self._in_style = False
        if tag == "script":
            self._script = None

    @property
    def handlers(self) -> list[str]:
        """Attributes that would run something."""
        return [name for _, attributes in self.elements for name in attributes if name.startswith("on")]

    def addresses(self) -> list[str]:
        """Whatever an element would fetch or lead to."""
        names = ("src", "href", "action", "data", "poster", "srcset", "xlink:href", "formaction")
        return [str(a[name]) for _, a in self.elements for name in names if a.get(name)]
