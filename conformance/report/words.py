"""Short texts about cases and findings."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from conformance.case import Input

TOKEN = re.compile(r"\s+|[\[\](){},;:=]|[^\s\[\](){},;:=]+")
MOST_TOKENS = 600
HAPPENED = {"diverged": "diverges", "crashed": "crashes", "timed_out": "does not come back"}
EVENTS = {"more": "more events than expected", "fewer": "fewer events than expected", "order": "events in another order than expected"}


def shape_of(entry: Input) -> str:
    """Return dtype and shape, as in ``float32[2, 3]``."""
    return f"{entry.dtype}{list(entry.shape)}"


def headline(finding: dict[str, Any]) -> str:
    """Say who and where."""
    at = str(finding.get("at", ""))
    place = "after the last step" if at == "end" else f"at {at.removeprefix('op:')}" if at else ""
    bucket = str(finding.get("bucket", ""))
    return f"{finding.get('backend', '?')} {HAPPENED.get(bucket, bucket)} {place}".strip()


def summary(finding: dict[str, Any]) -> str:
    """Say what differs."""
    found = finding.get("mismatch")
    if not found:
        return {
            "crashed": "the process died; nothing to compare",
            "timed_out": "the time was up; nothing to compare",
        }.get(str(finding.get("bucket")), "no mismatch recorded")
    if found.get("kind") == "events":
        return EVENTS.get(str(found.get("actual")), "other events than expected")
    if found.get("kind") == "law":
        return f"breaks the law {found.get('where')}"
    where = value_name(found) or {"result": "the result", "grad": ".grad"}.get(str(found.get("where")), "")
    if found.get("where") == "event" and not str(found.get("at")).startswith("in_place"):  # there an event is a name that changed too
        where = f"what {where} saw"
    what = f"{found.get('kind', '?')}{' of ' if where else ''}{where}"
    if found.get("kind") == "value":
        return f"wrong {what}"
    return f"{what}: expected {found.get('expected', '?')}, actual {found.get('actual', '?')}"


def value_name(found: dict[str, Any]) -> str:
    """Return the name of the value that differs, if the detail of the mismatch begins with one."""
    if found.get("where") not in ("result", "grad", "event"):
        return ""
    name = re.match(r"([\w.]+)(?=: |$)", str(found.get("detail", "")))
    return name[1] if name else ""


def marked(expected: str, actual: str) -> tuple[list[tuple[str, bool]], list[tuple[str, bool]]]:
    """Cut two texts into parts, each with whether the other text lacks it."""
    left, right = TOKEN.findall(expected), TOKEN.findall(actual)
    if expected == actual or not expected or not actual or len(left) + len(right) > MOST_TOKENS:
        return [(expected, False)], [(actual, False)]
    parts: tuple[list[tuple[str, bool]], list[tuple[str, bool]]] = ([], [])
    for tag, i, j, k, m in difflib.SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        differs = tag != "equal"
        for side, tokens in zip(parts, (left[i:j], right[k:m]), strict=True):
            text = "".join(tokens)
            blank = len(text) - len(text.lstrip())  # a marked blank would be a coloured box that says nothing
            side.extend((t, d) for t, d in ((text[:blank], False), (text[blank:], differs)) if t)
    return parts
