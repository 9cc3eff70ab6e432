"""What a reproduction asserts: claims on what a script shows at one of its steps, as data, and how Python says each.

Who prints a script knows how a framework writes things and nothing of what is right; who knows that (`conformance.judge.reproduction`)
knows nothing of frameworks. So what is promised goes from one to the other as a `Promised`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from conformance.backends.repro.python_text import numbers_text
from conformance.case.place import END, StepNumber

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Where: TypeAlias = Literal["result", "grad", "hook", "function", "written"]


@dataclass(frozen=True)
class Spot:
    """One tensor: the one of this name, its ``.grad``, or what call ``number`` of a hook or of a custom backward was given.

    ``written``: one that an in-place step changed beside its own.
    """

    name: str
    where: Where = "result"
    number: int = 0


@dataclass(frozen=True)
class Presence:
    """A tensor is there, or is absent."""

    spot: Spot
    present: bool


@dataclass(frozen=True, eq=False)
class Elements:
    """A tensor has this shape, this dtype and these elements.

    ``rtol`` and ``atol`` as NumPy has them; both zero: to the last bit. ``held``: which elements are promised, ``None`` for all.
    """

    spot: Spot
    expected: Any
    rtol: float = field(default_factory=float)
    atol: float = field(default_factory=float)
    held: Any = None


@dataclass(frozen=True)
class Flag:
    """A tensor requires a gradient, or does not."""

    spot: Spot
    requires_grad: bool


@dataclass(frozen=True)
class Calls:
    """The hooks that were called, or the custom backwards by name, each with whether ops were recorded meanwhile."""

    where: Literal["hook", "function"]
    calls: tuple[tuple[str, bool], ...]


@dataclass(frozen=True)
class Callback:
    """The callback of a call was called, or was not."""

    called: bool


@dataclass(frozen=True)
class Refusal:
    """The step is refused, for this reason."""

    reason: str


@dataclass(frozen=True)
class Unchanged:
    """A tensor has the elements at the end that it had after a step, or at first (-1)."""

    name: str
    since: int


@dataclass(frozen=True)
class Open:
    """Nobody promises what is to be seen of a tensor, or of the step as a whole; why."""

    reason: str
    spot: Spot | None = None


Claim: TypeAlias = Presence | Elements | Flag | Calls | Callback | Refusal | Unchanged | Open


@dataclass(frozen=True)
class Promised:
    """What a script asserts, and where.

    Attributes:
        step: the last step that it runs, which the claims are about.
        refused: the steps that are promised to be refused.
        left_out: the steps that cannot be tried, each with the reason.
        says: who says so, line by line.
    """

    step: StepNumber
    claims: tuple[Claim, ...]
    refused: frozenset[int] = frozenset()
    left_out: Mapping[int, str] = field(default_factory=dict)
    says: tuple[str, ...] = ()

    @property
    def refusal(self) -> Refusal | None:
        """The claim that the step is refused, if that is promised."""
        return next((claim for claim in self.claims if isinstance(claim, Refusal)), None)

    def looks_at(self, where: Where) -> bool:
        """Whether it asserts anything of the calls of hooks, or of custom backwards."""
        return any(isinstance(claim, Calls) and claim.where == where for claim in self.claims)

    def runs(self, number: int) -> bool:
        """Whether the script runs a step."""
        return (self.step is END or number <= self.step) and number not in self.left_out


class Wording(Protocol):
    """How a script names what is asserted of a tensor."""

    def array(self, tensor: str) -> str:
        """Return an expression of a copy of the elements as a NumPy array."""

    def flag(self, tensor: str, requires_grad: bool) -> str:
        """Return an expression that is true where a tensor requires a gradient, or where it does not."""

    def grad_of(self, tensor: str) -> str:
        """Return an expression of what a tensor holds as its gradient."""


LISTS = {"hook": "saw", "function": "ran"}
"""The lists in which a script keeps what hooks and custom backwards were given: name, elements, and whether ops were recorded."""


def tensor_text(spot: Spot, words: Wording) -> str:
    """Write an expression of a tensor, or of the array that was kept of it."""
    if spot.where in LISTS:
        return f"{LISTS[spot.where]}[{spot.number}][1]"
    return words.grad_of(spot.name) if spot.where == "grad" else spot.name


def assertions(promised: Promised, words: Wording) -> Iterator[str]:
    """Yield the lines that assert what is promised, but for refusals; what is asserted is printed first."""
    shown: set[Spot] = set()
    for claim in promised.claims:
        spot = getattr(claim, "spot", None)
        if spot is not None and spot not in shown and spot.where not in LISTS:
            shown.add(spot)
            text = tensor_text(spot, words)
            yield f'print("{text} =", {text})'
        yield from _assertion(claim, words)


def _assertion(claim: Claim, words: Wording) -> Iterator[str]:
    match claim:
        case Presence():
            text = tensor_text(claim.spot, words)
            if claim.present:
                yield f'assert {text} is not None, "{text} is None"'
            else:
                yield f'assert {text} is None, f"{text} is {{{text}}}, where there is no gradient"'
        case Flag():
            holds = words.flag(tensor_text(claim.spot, words), claim.requires_grad)
            yield f'assert {holds}, "it is not so: {holds}"'
        case Elements():
            yield from _elements(claim, words)
        case Calls():
            name = LISTS[claim.where]
            if claim.where == "function":  # in which order they run is promised by nobody
                yield f"{name}.sort(key=lambda call: call[0])"
            calls = f"[(name, recording) for name, _, recording in {name}]"
            yield f'assert {calls} == {list(claim.calls)!r}, f"called, and whether ops were recorded: {{{calls}}}"'
        case Callback():
            yield f'assert {"" if claim.called else "not "}called, f"the callback was called {{len(called)}} times"'
        case Unchanged():
            yield f"np.testing.assert_array_equal({words.array(claim.name)}, {kept(claim.name)})"
        case Open():
            yield f"# Not asserted: {claim.reason}."
        case Refusal():
            return


def _elements(claim: Elements, words: Wording) -> Iterator[str]:
    text = tensor_text(claim.spot, words)
    actual = text if claim.spot.where in LISTS else words.array(text)
    yield f"expected = {numbers_text(claim.expected)}"
    expected = "expected"
    if claim.held is not None:
        yield f"promised = np.array({claim.held.tolist()!r})  # the others are decided by 0 times infinity, or the like"
        actual, expected = f"{actual}[promised]", "expected[promised]"
    if claim.rtol or claim.atol:
        passed = [f"rtol={claim.rtol!r}", *([f"atol={claim.atol!r}"] if claim.atol else [])]
        yield f"np.testing.assert_allclose({actual}, {expected}, {', '.join(passed)}, strict=True)"
    else:
        yield f"np.testing.assert_array_equal({actual}, {expected}, strict=True)"


def kept(name: str) -> str:
    """Name the copy of a tensor that is held against it at the end."""
    return f"{name}_before"


def copies(promised: Promised, number: int, words: Wording) -> Iterator[str]:
    """Yield the lines after a step (-1: the inputs) that copy what must not change from there on."""
    for claim in promised.claims:
        if isinstance(claim, Unchanged) and claim.since == number:
            yield f"{kept(claim.name)} = {words.array(claim.name)}"


def constants(lines: list[str]) -> list[str]:
    """Return the line that names what is not finite, where a script says it."""
    used = any(re.search(r"\b(nan|inf)\b", line) for line in lines)
    return ['nan, inf = float("nan"), float("inf")'] if used else []
