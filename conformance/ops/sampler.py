"""What drawing an op's arguments may ask of the script in the making.

A row of the catalogue draws through these protocols, so that the catalogue does not know the generator that fulfils them
(`conformance.generate.sketch`, `conformance.generate.sources`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reference_impl.tape.primitive import Domain

T = TypeVar("T")
Origin: TypeAlias = Literal["input", "seed", "returned", "result", "detached", "gradient"]
"""What a value is in its script; ``"returned"`` is an input that a hook returns."""


@dataclass(frozen=True, slots=True)
class Draft:
    """One value: its name, what is known of it, the names that it depends on differentiably (itself included), and what it is."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    array: Any
    tracked: bool
    above: frozenset[str]
    origin: Origin = "result"

    @property
    def is_input(self) -> bool:
        """Whether it is an input that ops start from."""
        return self.origin == "input"

    @property
    def is_leaf(self) -> bool:
        """Whether it is such an input, or a seed: what a gradient is usually asked for."""
        return self.origin in ("input", "seed")

    @property
    def is_computed(self) -> bool:
        """Whether an op or a custom function made it."""
        return self.origin == "result"


Arguments: TypeAlias = tuple[list[Draft], dict[str, Any]]
"""The operands and the attributes that were chosen for an op."""


class Source(Protocol):
    """What a generator may ask."""

    def integer(self, low: int, high: int) -> int:
        """Return an integer in ``low..high``, both included; ``low`` is the simplest."""

    def uniform(self, low: float, high: float) -> float:
        """Return a real number between two bounds."""

    def chance(self, probability: float) -> bool:
        """Decide; ``False`` is simpler."""

    def choice(self, options: Sequence[T]) -> T:
        """Choose one; the first is the simplest."""

    def subset(self, options: Sequence[T], at_least: int = 0) -> list[T]:
        """Choose some, in their order."""

    def shuffled(self, options: Sequence[T]) -> list[T]:
        """Return all, in any order."""


class Sampler(Protocol):
    """A script in the making, as a row of the catalogue sees it.

    ``exact``: numbers must keep all arithmetic exact; ``complex``: the script is over complex tensors.
    """

    source: Source
    exact: bool
    complex: bool

    def length(self) -> int:
        """Choose the length of an axis."""

    def shape(self) -> tuple[int, ...]:
        """Choose the shape of a fresh input."""

    def number(self) -> float:
        """Choose a Python number."""

    def fresh(
        self,
        shape: tuple[int, ...],
        *,
        domain: Domain | None = None,
        origin: Origin = "input",
        dtype: str | None = None,
        differentiable: bool | None = None,
    ) -> Draft:
        """Add an input."""

    def take(
        self,
        test: Callable[[Draft], bool] | None = None,
        *,
        domain: Domain | None = None,
        shape: tuple[int, ...] | None = None,
    ) -> Draft:
        """Take a value that fits, or add a fresh input that does; ``shape`` is used where no random shape fits."""

    def take_shaped(self, shape: tuple[int, ...]) -> Draft:
        """Take a value of one shape, or add one."""

    def partner(self, x: Draft, *, domain: Domain | None = None) -> Draft:
        """Take a value that broadcasts with ``x``, or add one."""


Draw: TypeAlias = "Callable[[Sampler], Arguments | None]"
"""How a row chooses its op's arguments; ``None`` where the script offers nothing that fits."""
