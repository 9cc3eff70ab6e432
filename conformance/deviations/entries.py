"""Known deviations: narrow predicates over a mismatch, each beside the finding that proves it.

An entry names the backend, the steps, what is expected there and what comes instead, and under which condition. All that it names must
hold for a mismatch to count as known, in whatever release: the releases that it names too are those in which it was seen, and there the
gate wants to see it again. Only where it was mended it explains nothing, so that it is found if it comes back. Where numbers are wrong
the entry says what they *are*: its signature, held against the arrays by `conformance.deviations.wrong_values`; where the process dies
it says in which *frame*; or why nobody can say that. The entries of a finding are the tables ``[[deviation]]`` of ``deviation.toml`` in
its folder.
"""

from __future__ import annotations

import functools
import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import Version

from conformance.backends.registry import names
from conformance.case.place import END, StepNumber
from conformance.case.queries import LABELS, label, until
from conformance.case.steps import Backward, Grad, InPlace, observed, ops, uses
from conformance.compare.mismatch import IN_A_PASS, KINDS, POISON
from conformance.deviations import conditions
from conformance.deviations.asked import ASKED, tensor_of
from conformance.deviations.counterfactuals.rules import RULES
from conformance.deviations.counterfactuals.scripts import COUNTERFACTUALS
from conformance.deviations.elements import ELEMENTS
from conformance.deviations.findings import CASE, ENTRIES, conventions_folder, findings_folders
from conformance.deviations.frames import FRAMES, is_in
from conformance.deviations.points import Point
from conformance.ops import catalogue

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.backends import BackendInfo
    from conformance.case.case import Case
    from conformance.compare.mismatch import Mismatch

SIGNATURES = (*ELEMENTS, *COUNTERFACTUALS, *RULES)
CRASH = "crash"
"""The kind of a mismatch where the process died or did not come back."""
LAW = "law"
"""The kind of a mismatch where a law is broken."""
KNOWABLE = (*KINDS, CRASH, LAW, POISON)
"""What may be known of a framework; the other kinds are about the suite, or about what nobody promises."""
TOLD = frozenset({"finding", "unpromised"})
"""The fields that the folder of an entry says."""


class DeviationError(ValueError):
    """A deviations file that cannot be used; the message has the file, the entry and the reason."""


class Deviation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One known deviation. Lists allow several; an empty list or text allows all; ``message`` is a regular expression.

    ``expected``: where an entry says how a pass is refused that should compute, it says so of a pass that was to be refused later, too.
    ``when``: conditions with their scopes (`conditions.registry`), all of which must hold; ``meets``: special points (`points`), one of
    which must be met. ``finding``: the folder in which the entry lies. ``frame``: where the process dies, a name of `frames` or a
    regular expression over what `campaign.workers.last_words` tells of it. ``after``: entries that are asked before this one,
    where both may describe a difference; the one that is asked first is named.
    ``signature``: what wrong numbers are, in the words of `elements`, or of the scripts or rules of `counterfactuals`, one of which
    must hold (where they are words for elements, one of them of each element); ``instead``: the counterfactual scripts or rules by
    which the step has its answer, one of them, where it is refused otherwise than promised, or not at all, or calls differ.
    ``unpredictable``: what nobody can say (wrong numbers, if there is no signature; the numbers where a refusal is promised; where a
    process dies), and why.
    ``only``: whose gradients may differ, of the results of a `grad` call and in ``.grad``, or which seeds (`asked`); the others are
    right. Where the answer ``instead`` is ``unpredictable``, it says whose numbers are.
    ``unpromised``: no document says what is right there; so it is for all entries that lie among the conventions.
    ``cpu``: the vector instructions with which it shows, as the backend calls them (`BackendInfo.cpu`). ``mended``: the releases in
    which it is gone, where those that the suite is pinned to are among them.
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
    meets: tuple[Point, ...] = ()
    lost: tuple[Point, ...] = ()
    above: tuple[str, ...] = ()
    link: str = ""
    signature: tuple[str, ...] = ()
    unpredictable: str = ""
    frame: str = ""
    after: tuple[str, ...] = ()
    cpu: tuple[str, ...] = ()
    instead: tuple[str, ...] = ()
    only: str = ""
    unpromised: bool = False
    mended: str = ""

    def was_seen_in(self, version: str) -> bool:
        """Whether it was seen in a release."""
        return Version(version) in SpecifierSet(self.versions, prereleases=True)

    def was_mended_in(self, version: str) -> bool:
        """Whether a release no longer has it."""
        return bool(self.mended) and SpecifierSet(self.mended, prereleases=True).contains(version)

    def shows_on(self, cpu: str) -> bool:
        """Whether it can show where a backend's kernels use these vector instructions."""
        return not self.cpu or cpu in self.cpu

    def matches(self, info: BackendInfo, case: Case, mismatch: Mismatch) -> bool:
        """Whether this entry explains the mismatch."""
        return (  # what most entries fail by comes first
            (not self.actual or mismatch.actual in self.actual)
            and (not self.expected or mismatch.expected in self.expected or self._comes_first(mismatch))
            and mismatch.kind in self.kinds
            and (not self.where or self.where == mismatch.where)
            and self.backend in (info.name, info.variant_of)
            and self.shows_on(info.cpu)
            and not self.was_mended_in(info.version)
            and (not self.steps or label(case, mismatch.step) in self.steps)
            and (not self.message or re.search(self.message, mismatch.detail) is not None)
            and (not self.frame or mismatch.kind != CRASH or is_in(self.frame, mismatch.detail))
            and (not self.only or self._may_differ(case, mismatch))
            and self.holds(case, mismatch.step)
        )

    def _comes_first(self, mismatch: Mismatch) -> bool:
        """Whether it says how a pass is refused that should compute, and this one was to be refused otherwise, maybe later."""
        refused = mismatch.actual in self.actual and mismatch.actual != "computed"
        return refused and "computed" in self.expected and mismatch.expected in IN_A_PASS

    def _may_differ(self, case: Case, mismatch: Mismatch) -> bool:
        """Whether a difference is in no gradient or seed, or in one of those that may differ."""
        return mismatch.where not in ("result", "grad", "seed") or ASKED[self.only](case, mismatch.step, tensor_of(case, mismatch))

    def holds(self, case: Case, number: StepNumber) -> bool:
        """Whether all that it asks of a script holds at a step."""
        return (
            all(conditions.holds(words, case, number) for words in self.when)
            and (not self.meets or any(point.met(case, number) for point in self.meets))
            and (not self.above or not _ops_above(case, number).isdisjoint(self.above))
        )

    @property
    def wrong_values(self) -> str:
        """What wrong values are, in words; empty where none are wrong."""
        said = {"wrong values are": self.signature, "the answer is": self.instead}
        lines = [f"{what}: {' or '.join(words)}" for what, words in said.items() if words]
        if self.unpredictable:
            what = "wrong values are" if "value" in self.kinds and not self.signature else "what comes, or where the process dies, is"
            lines.append(f"{what} unpredictable: {self.unpredictable}")
        return "; ".join(lines)

    @property
    def dies(self) -> str:
        """Where the process dies, in words; empty where it does not, or nobody can say it."""
        where = f"of {self.frame}" if self.frame in FRAMES else f"in: {self.frame}"
        return f"dies {where}" if self.frame else ""

    @property
    def asked(self) -> list[str]:
        """What an entry asks of a script and of the machine, in words."""
        points = (f"{p.operand} of {p.op}{f' times {p.times}' if p.times else ''} is {p.value}" for p in self.meets)
        cpu = [f"on a CPU with {' or '.join(self.cpu)}"] if self.cpu else []
        only = [f"what differs is {self.only}, or its gradient"] if self.only else []
        return [*map(conditions.in_words, self.when), *only, *([f"until: {' or '.join(points)}"] if self.meets else []), *cpu]


@functools.lru_cache(maxsize=1024)
def _ops_above(case: Case, step: StepNumber) -> frozenset[str]:
    """Return the ops that the values of a step were made by, directly or not, in custom functions and autograd calls, too.

    What a `backward` left in ``.grad`` is among these values, but for a `grad` call, which adds nothing to it.
    """
    steps = until(case, step)
    adds = step is END or not isinstance(steps[-1], Grad)
    wanted = {name for s in (steps if step is END else steps[-1:]) for _, name in uses(s)}
    found: set[str] = set()
    for earlier in reversed(steps):
        touched = wanted.intersection(observed(earlier)) or (adds and isinstance(earlier, Backward)) or earlier is steps[-1]
        if touched:
            wanted.update(name for _, name in uses(earlier))
            found.update([earlier.op] if isinstance(earlier, InPlace) else (op.op for op in ops(earlier)))
    return frozenset(found)


def known(*folders: Path) -> tuple[Deviation, ...]:
    """Read and check the entries of all findings, those of these folders or of all, in the order in which they are asked.

    That is the order of the findings' names, but that an entry comes ``after`` those that it names.

    Raises:
        DeviationError: with the file, the entry and the reason.
    """
    return _known(folders or findings_folders())


def about(info: BackendInfo, kind: str) -> tuple[Deviation, ...]:
    """Return the entries of a backend that are about differences of a kind, in the order in which they are asked."""
    return _about(findings_folders(), (info.name, info.variant_of), kind)


@functools.cache
def _about(folders: tuple[Path, ...], backends: tuple[str, ...], kind: str) -> tuple[Deviation, ...]:
    return tuple(entry for entry in _known(folders) if entry.backend in backends and kind in entry.kinds)


@functools.cache
def _known(folders: tuple[Path, ...]) -> tuple[Deviation, ...]:
    for folder in folders:
        if not folder.is_dir():
            msg = f"{folder}: there is no such folder of findings"
            raise DeviationError(msg)
    paths = sorted((path for folder in folders for path in folder.iterdir()), key=lambda path: path.name)
    findings = [path.name for path in paths]
    entries = tuple(entry for path in paths for entry in _read(path))
    backends = names()
    seen: set[str] = set()
    for entry in entries:
        path = Path(entry.finding) / ENTRIES
        if entry.id in seen:
            raise _refusal(path, entry.id, "another entry has this id; every entry has one of its own")
        if entry.id != entry.finding and entry.id in findings:
            raise _refusal(path, entry.id, f"lies beside another finding; allowed is the folder of its own name, {entry.id!r}")
        if entry.backend not in backends and ":" not in entry.backend:
            raise _refusal(
                path, entry.id, f"backend {entry.backend!r} is unknown; allowed are {', '.join(backends)}, and module:attribute"
            )
        seen.add(entry.id)
    return tuple(_in_order(entries))


def _in_order(entries: Sequence[Deviation]) -> Iterator[Deviation]:
    named = {entry.id: entry for entry in entries}
    done: set[str] = set()

    def with_those_before(entry: Deviation, waiting: tuple[str, ...]) -> Iterator[Deviation]:
        path = Path(entry.finding) / ENTRIES
        if entry.id in waiting:
            raise _refusal(path, entry.id, f"comes after itself, by way of {', '.join(waiting)}; allowed is an order")
        for name in entry.after:
            if name not in named:
                raise _refusal(path, entry.id, f"comes after {name!r}, which is unknown; allowed are the ids of entries")
            yield from with_those_before(named[name], (*waiting, entry.id))
        if entry.id not in done:
            done.add(entry.id)
            yield entry

    for entry in entries:
        yield from with_those_before(entry, ())


def _read(folder: Path) -> list[Deviation]:
    path = folder / ENTRIES
    try:
        tables = tomllib.loads(path.read_bytes().decode())
    except (FileNotFoundError, NotADirectoryError):
        return []
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise _refusal(path, "", str(error)) from None
    if {*tables} != {"deviation"} or not isinstance(tables["deviation"], list):
        raise _refusal(path, "", f"has {', '.join(tables) or 'nothing'} at the top; allowed are tables [[deviation]]")
    if not (folder / CASE).exists():
        raise _refusal(path, "", f"lies in a folder without {CASE}; allowed is the folder of a finding, whose case proves the entry")
    return [_entry(path, table) for table in tables["deviation"]]


def _entry(path: Path, table: dict[str, Any]) -> Deviation:
    name = str(table.get("id", ""))
    finding = path.parent.name
    for said in TOLD.intersection(table):
        raise _refusal(path, name, f"unknown field `{said}`: the folder in which the entry lies says it, {finding!r}")
    unpromised = path.parents[1] == conventions_folder()
    try:
        entry = msgspec.convert({**table, "finding": finding, "unpromised": unpromised}, Deviation)
    except msgspec.ValidationError as error:
        fields = [field for field in Deviation.__struct_fields__ if field not in TOLD]
        allowed = "" if {*table}.issubset(fields) else f"; allowed are {', '.join(fields)}"
        raise _refusal(path, name, f"{error}{allowed}") from None
    problem = next(_problems(entry), None)
    if problem is not None:
        raise _refusal(path, name, problem)
    return entry


def _refusal(path: Path, name: str, problem: str) -> DeviationError:
    where = "/".join(path.parts[-2:])
    return DeviationError(f"{where}: {name}: {problem}" if name else f"{where}: {problem}")


def _problems(entry: Deviation) -> Iterator[str]:
    for step in entry.steps:
        if step not in LABELS and step not in {f"op:{name}" for name in catalogue()}:
            yield f"step {step!r} is unknown; allowed are {', '.join(sorted(LABELS))}, and op:NAME for every op of the catalogue"
    unknown = [kind for kind in entry.kinds if kind not in KNOWABLE]
    yield from (f"kind {kind!r} is unknown; allowed are {', '.join(KNOWABLE)}" for kind in unknown)
    for words in entry.when:
        yield from conditions.problems(words)
    for point in (*entry.meets, *entry.lost):
        yield from point.problems()
    if entry.only and entry.only not in ASKED:
        yield f"'only' {entry.only!r} is unknown; allowed are {', '.join(ASKED)}"
    unknown = [words for words in entry.instead if words not in COUNTERFACTUALS and words not in RULES]
    yield from (f"'instead' {words!r} is unknown; allowed are {', '.join((*COUNTERFACTUALS, *RULES))}" for words in unknown)
    unknown = [words for words in entry.signature if words not in SIGNATURES]
    yield from (f"signature {words!r} is unknown; allowed are {', '.join(SIGNATURES)}" for words in unknown)
    yield from _unsaid(entry)
    if entry.link and not entry.link.startswith("https://"):
        yield f"the link {entry.link!r} does not begin with https://"
    try:
        SpecifierSet(entry.versions)
        SpecifierSet(entry.mended)
        re.compile(entry.message)
        re.compile(entry.frame)
    except (InvalidSpecifier, re.error) as error:
        yield str(error)


def _unsaid(entry: Deviation) -> Iterator[str]:
    """Say what an entry does not say, or says without need, of what its wrong values are and of where the process dies."""
    values, crashes = "value" in entry.kinds, CRASH in entry.kinds
    if values and not entry.signature and not entry.unpredictable:
        yield "wrong values need either a signature or, where nobody can say what they are, the reason as 'unpredictable'"
    flagged = "flag" in entry.kinds and {*entry.signature} <= {*COUNTERFACTUALS, *RULES}
    if entry.signature and not flagged and not {*entry.kinds} & {"value", "absence", "shape", "dtype", "mutation"}:
        yield "a signature belongs to wrong values, their absence, shape or dtype, or to mutations, which are not among the kinds"
    if crashes and not entry.frame and not entry.unpredictable:
        yield "a crash needs a frame, a regular expression over where the process dies, or, where that may be anywhere, 'unpredictable'"
    if "events" in entry.kinds and not (entry.actual or entry.message or entry.instead or entry.unpredictable):
        yield "hooks that are called otherwise need either 'actual' (fewer, more, order), a message, or what comes 'instead'"
    if entry.frame and not crashes:
        yield "a frame belongs to a crash, which is not among the kinds"


def is_framed(name: str | None) -> bool:
    """Whether the entry of this id says in which frame the process dies, and that it does so nowhere else."""
    return any(entry.id == name and entry.frame and not entry.unpredictable for entry in known())


def listed(info: BackendInfo) -> bool:
    """Whether some entry names the backend."""
    return any(entry.backend in (info.name, info.variant_of) for entry in known())
