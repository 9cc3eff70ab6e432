"""The identity of a failure: what must stay the same while its case is made smaller, and what makes two failures one finding."""

from __future__ import annotations

import re
from typing import Any, NamedTuple


class Signature(NamedTuple):
    """Backend, bucket, and the words of the first difference; ``message`` only for refusals that no category names."""

    backend: str
    bucket: str
    at: str
    kind: str
    where: str
    expected: str
    actual: str
    message: str


def signature_of(backend: str, verdict: dict[str, Any]) -> Signature:
    """Read the signature off a verdict record."""
    found = verdict.get("mismatch")
    if found is None:
        return Signature(backend, verdict["bucket"], "", "", "", "", "", "")
    message = ""
    if found["actual"] == "unmapped":
        message = re.sub(r"[^A-Za-z ]+", "#", found["detail"].splitlines()[0])[:80]
    at, kind, where, expected, actual = (found[key] for key in ("at", "kind", "where", "expected", "actual"))
    return Signature(backend, verdict["bucket"], at, kind, where, expected, actual, message)
