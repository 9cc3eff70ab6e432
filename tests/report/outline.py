"""The elements of a page."""

from __future__ import annotations

import re
from html.parser import HTMLParser

VOID = {"meta", "input", "col", "br", "wbr"}


class Outline(HTMLParser):
    """Elements with their attributes and texts, and tags that do not match."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.open: list[str] = []
        self.unmatched: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.unmatched.append(tag)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def of_class(self, *wanted: str) -> list[str]:
        return [tag for tag, attrs in self.elements if set(wanted) <= set((attrs.get("class") or "").split())]


def verdict(page: str) -> str:
    found = re.search(r'<section class="verdict (\w+)"', page)
    assert found
    return found[1]
