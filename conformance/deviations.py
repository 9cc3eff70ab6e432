"""Known deviations: narrow predicates over a mismatch, from one TOML file.

An entry names the backend and its versions, the steps, what is expected there and what comes instead, and under which condition.
All that it names must hold for a mismatch to count as known. Where numbers are wrong the entry says what they *are*: its signature,
held against the arrays by `conformance.judge.signatures`, or why nobody can say that.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import Version

from conformance.conditions import CONDITIONS
from conformance.counterfactual_rules import RULES
from conformance.counterfactuals import COUNTERFACTUALS, ELEMENTS
from conformance.steps import Backward, Op, kind, results, uses

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.backends import BackendInfo
    from conformance.case import Case
    from conformance.judge.compare import Mismatch

FILE = Path(__file__).with_name("deviations.toml")
SIGNATURES = (*ELEMENTS, *COUNTERFACTUALS, *RULES)


class DeviationError(ValueError):
    """A deviations file that cannot be used; the message has the entry and the reason."""


class Deviation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One known deviation. Lists allow several; an empty list or text allows all; ``message`` is a regular expression.

    ``signature``: what wrong numbers are, in the words of `conformance.counterfactuals` or `conformance.counterfactual_rules`, one of
    which must hold (where they are words for elements, one of them of each element); ``unpredictable``: why there is none.
    """

    id: str
    backend: str
    versions: str
    steps: tuple[str, ...]
    kinds: tuple[str, ...]
    reason: str
    finding: str
    where: str = ""
    expected: tuple[str, ...] = ()
    actual: tuple[str, ...] = ()
    message: str = ""
    when: tuple[str, ...] = ()
    above: tuple[str, ...] = ()
    link: str = ""
    signature: tuple[str, ...] = ()
    unpredictable: str = ""

    def matches(self, info: BackendInfo, case: Case, mismatch: Mismatch) -> bool:
        """Whether this entry explains the mismatch."""
        return (
            self.backend == info.name
            and mismatch.kind in self.kinds
            and (not self.where or self.where == mismatch.where)
            and (not self.expected or mismatch.expected in self.expected)
            and (not self.actual or mismatch.actual in self.actual)
            and (not self.steps or label(case, mismatch.step) in self.steps)
            and (not self.message or re.search(self.message, mismatch.detail) is not None)
            and all(CONDITIONS[name](case, mismatch.step) for name in self.when)
            and (not self.above or not _ops_above(case, mismatch.step).isdisjoint(self.above))
            and Version(info.version) in SpecifierSet(self.versions, prereleases=True)
        )

    @property
    def wrong_values(self) -> str:
        """What wrong values are, in words; empty where none are wrong."""
        if self.unpredictable:
            return f"wrong values are unpredictable: {self.unpredictable}"
        return f"wrong values are: {' or '.join(self.signature)}" if self.signature else ""


class _File(msgspec.Struct, forbid_unknown_fields=True):
    deviation: tuple[Deviation, ...] = ()


def label(case: Case, step: int) -> str:
    """Name a step: the op, the call, or ``end`` for the state after the last step."""
    if step < 0:
        return "end"
    found = case.steps[step]
    return f"op:{found.op}" if isinstance(found, Op) else kind(found)


def _ops_above(case: Case, step: int) -> frozenset[str]:
    """Return the ops that the values of a step were made by, directly or not, autograd calls included."""
    steps = case.steps if step < 0 else case.steps[: step + 1]
    wanted = {name for s in (steps if step < 0 else steps[-1:]) for _, name in uses(s)}
    ops: set[str] = set()
    for earlier in reversed(steps):
        touched = wanted.intersection(results(earlier)) or isinstance(earlier, Backward) or earlier is steps[-1]
        if touched:
            wanted.update(name for _, name in uses(earlier))
            ops.update([earlier.op] if isinstance(earlier, Op) else ())
    return frozenset(ops)


@functools.cache
def known(path: Path = FILE) -> tuple[Deviation, ...]:
    """Read and check the entries.

    Raises:
        DeviationError: with the entry and the reason.
    """
    try:
        entries = msgspec.toml.decode(path.read_bytes(), type=_File).deviation
    except (OSError, msgspec.DecodeError) as error:
        msg = f"{path.name}: {error}"
        raise DeviationError(msg) from None
    for entry in entries:
        problem = next(_problems(entry), None)
        if problem is not None:
            msg = f"{path.name}: {entry.id}: {problem}"
            raise DeviationError(msg)
    return entries


def _problems(entry: Deviation) -> Iterator[str]:
    for words, allowed in ((entry.when, CONDITIONS), (entry.signature, SIGNATURES)):
        kind = "condition" if words is entry.when else "signature"
        yield from (f"{kind} {word!r} is unknown; allowed are {', '.join(allowed)}" for word in words if word not in allowed)
    said = bool(entry.signature) + bool(entry.unpredictable)
    if "value" in entry.kinds and said != 1:
        yield "wrong values need either a signature or, where nobody can say what they are, the reason as 'unpredictable'"
    if "value" not in entry.kinds and said:
        yield "a signature belongs to wrong values, which are not among the kinds"
    if entry.link and not entry.link.startswith("https://"):
        yield f"the link {entry.link!r} does not begin with https://"
    try:
        SpecifierSet(entry.versions)
        re.compile(entry.message)
    except (InvalidSpecifier, re.error) as error:
        yield str(error)


def listed(info: BackendInfo) -> bool:
    """Whether some entry names the backend."""
    return any(entry.backend == info.name for entry in known())
