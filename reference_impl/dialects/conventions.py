"""Open choices: what no document settles, and which option an engine takes there.

A specification may leave things open: whether an op is offered to second order, whether a derivative that vanishes is absent or zeros,
at which node a freed graph refuses, what an op keeps and therefore refuses after a write, whether a call takes a flag that is no bool.
There the engine of this package does not guess, it asks, with an `OpenChoice`, and goes on with the option that it is told. It asks at
these points and nowhere else; what is promised is a switch of the `Dialect` or no question at all.

`Conventions` answer. They are a mapping from choices to options that was measured on some release of some engine and is kept in a
generated file, see `read`; where it says nothing, the option holds that follows from the formulas of the ops.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

UNBOUNDED = 99
"""Stands for the highest derivative of an op that is offered to any order."""

ORDER = "order "
UNNAMED = ("g", "out")
"""What choices call the cotangent and the result of an op."""
COMPUTED, REFUSED = "computed", "refused"
FORMULA, LINKED, CUT = "formula", "linked", "cut"

FOLDER = Path(__file__).parents[1] / "conventions"
"""Where the conventions of the frameworks lie, one file for each release."""


class Kind(StrEnum):
    """What may be open; the values are the words of the files."""

    OFFERED = "offered"
    """Whether a derivative of an op of this order is computed, or refused as not implemented."""
    CONNECTED = "connected"
    """On what the gradients of an op's operands count as depending: on an operand (or ``g``, or ``out``) as far as the ``formula`` uses
    it, in any case (``linked``), or not at all (``cut``). It decides between absent and zeros where a further derivative vanishes."""
    KEPT = "kept"
    """Whether the node of an op refuses a pass for what was written since, or computes what was right before the write."""
    FREED = "freed"
    """Whether the node of an op refuses to run again after its graph was freed, or computes."""
    ALLOWED = "allowed"
    """Whether a call goes along with what it is handed, or refuses it. This is about no op: the first word says what it is
    (`HANDED`), the others what is unusual of it."""


OPTIONS: Mapping[Kind, tuple[str, ...]] = {
    Kind.OFFERED: (COMPUTED, REFUSED),
    Kind.CONNECTED: (FORMULA, LINKED, CUT),
    Kind.KEPT: (COMPUTED, REFUSED),
    Kind.FREED: (COMPUTED, REFUSED),
    Kind.ALLOWED: (COMPUTED, REFUSED),
}


HANDED = ("flag", "input", "root", "seed")
"""What calls are handed: of the kind `ALLOWED` a choice names one of these in the place of an op."""


class OpenChoice(NamedTuple):
    """One question that no document answers.

    ``op``: whose node it is about; for a node of a derivative the op that this is the derivative of; or what is handed over.
    ``about``: what else distinguishes it, in words: an order of derivative, the name of an operand, its company.
    """

    kind: Kind
    op: str
    about: str = ""

    def __str__(self) -> str:
        return f"{self.kind}: {self.op} {self.about}".rstrip()


class ConventionsError(ValueError):
    """A file of conventions that cannot be used; the message has the file, the place and what is allowed."""


@dataclass(frozen=True)
class Conventions:
    """The options that an engine takes at its open choices.

    ``options``: those that are known. ``varying``: of choices that the engine decides now so and now so, all options that were seen.
    ``release``: of which backend and version that was measured. ``noted``: where there is such a mapping, every choice that is asked
    for is entered, the latest last.
    """

    options: Mapping[OpenChoice, str] = field(default_factory=dict)
    varying: Mapping[OpenChoice, Collection[str]] = field(default_factory=dict)
    release: tuple[str, str] = ("", "")
    noted: dict[OpenChoice, str] | None = field(default=None, compare=False)

    @cached_property
    def _known(self) -> Collection[tuple[Kind, str]]:
        return {choice[:2] for choice in self.options}

    @cached_property
    def composed(self) -> dict[Any, Any]:
        """Answers that many nodes ask for, by what they are about; where nobody notes what is asked, one is as good as many."""
        return {}

    @cached_property
    def _highest(self) -> Mapping[str, int]:
        refused = [choice for choice, option in self.of(Kind.OFFERED).items() if option == REFUSED]
        return {choice.op: order_of(choice) - 1 for choice in sorted(refused, key=order_of, reverse=True)}

    def expects(self, kind: Kind, op: str, about: str, formula: str) -> str:
        """Return the option of a choice that decides nothing here, but says what to expect of another one."""
        return self.options.get((kind, op, about), formula)  # type: ignore[call-overload, no-any-return] # equal to the choice, and made faster

    def ask(self, kind: Kind, op: str, about: str, formula: str) -> str:
        """Return the option that is taken at a choice; ``formula``: what follows from the op's formula, where nothing is known."""
        option = self.expects(kind, op, about, formula)
        if self.noted is not None:
            choice = OpenChoice(kind, op, about)
            self.noted.pop(choice, None)
            self.noted[choice] = option
        return option

    def refuses(self, kind: Kind, op: str, about: str, *, formula: bool = False) -> bool:
        """Whether a choice between computing and refusing is to refuse."""
        return self.ask(kind, op, about, REFUSED if formula else COMPUTED) == REFUSED

    def offers(self, op: str, order: int) -> bool:
        """Whether a derivative of an op is offered; every node of a derivative asks that."""
        if self.noted is not None:
            return not self.refuses(Kind.OFFERED, op, of_order(order))
        offered: bool | None = self.composed.get((op, order))
        if offered is None:
            offered = self.composed[op, order] = not self.refuses(Kind.OFFERED, op, of_order(order))
        return offered

    def noting(self) -> Conventions:
        """Return the same conventions, which note from now on what they are asked."""
        return replace(self, noted={})

    def but(self, options: Mapping[OpenChoice, str]) -> Conventions:
        """Return conventions in which these choices are decided otherwise."""
        return replace(self, options={**self.options, **options})

    def without(self, kind: Kind) -> Conventions:
        """Return conventions that say nothing of choices of this kind."""
        return replace(self, options={choice: option for choice, option in self.options.items() if choice.kind is not kind})

    def unheld(self) -> Conventions:
        """Return the same conventions as a mere expectation, to which no release is held."""
        return replace(self, release=("", ""))

    def of(self, kind: Kind) -> dict[OpenChoice, str]:
        """Return what is known of the choices of a kind."""
        return {choice: option for choice, option in self.options.items() if choice.kind is kind}

    def covers(self, kind: Kind, op: str) -> bool:
        """Whether anything is known of an op."""
        return (kind, op) in self._known

    def highest_order(self, op: str) -> int:
        """Return the highest derivative of an op that is offered."""
        return self._highest.get(op, UNBOUNDED)


def of_order(order: int) -> str:
    """Say in a choice which order of derivative it is about."""
    return f"{ORDER}{order}"


def order_of(choice: OpenChoice) -> int:
    """Return the order of derivative that a choice is about."""
    return int(choice.about.removeprefix(ORDER))


def plain_name(backend: str) -> str:
    """Return what a backend is called in names of files and findings.

    Of ``module:attribute`` that is the attribute; where it is ``open_backend``, as in most adapters, it is the last part of the module.
    """
    return backend.removesuffix(":open_backend").replace(":", ".").rpartition(".")[2]


def release_file(backend: str, version: str, folder: Path = FOLDER) -> Path:
    """Return where the conventions of a release lie: one file for all its corrections."""
    return folder / f"{plain_name(backend)}-{'.'.join(version.partition('+')[0].split('.')[:2])}.toml"


def locked(backend: str, version: str) -> Conventions:
    """Return the conventions of a release that were measured."""
    return conventions(read(release_file(backend, version)))


class Lock(NamedTuple):
    """What was measured: of which backend and version, and for each choice how often each option was seen."""

    backend: str
    version: str
    seen: Mapping[OpenChoice, Mapping[str, int]]


def conventions(lock: Lock) -> Conventions:
    """Return the conventions that were measured: of each choice the option that was seen most."""
    return Conventions(
        {choice: max(seen, key=seen.__getitem__) for choice, seen in lock.seen.items()},
        varying={choice: tuple(seen) for choice, seen in lock.seen.items() if len(seen) > 1},
        release=(lock.backend, lock.version),
    )


def read(path: Path) -> Lock:
    """Read a file of conventions, as `conformance learn` writes it.

    It says of which backend and version, and has a table for each kind and option, with a line for each choice::

        [offered.refused]
        "amax order 2" = 14

    Raises:
        ConventionsError: if it is no such file.
        OSError: if it cannot be read.
    """
    try:
        tables = tomllib.loads(path.read_text("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConventionsError(f"{path}: {error}") from None
    seen: dict[OpenChoice, dict[str, int]] = {}
    for choice, option, count in _lines(path, tables):
        seen.setdefault(choice, {})[option] = count
    return Lock(str(tables.get("backend", "")), str(tables.get("version", "")), seen)


def _lines(path: Path, tables: Mapping[str, object]) -> Iterator[tuple[OpenChoice, str, int]]:
    for name, by_option in tables.items():
        if name in ("backend", "version"):
            continue
        if name not in list(Kind) or not isinstance(by_option, dict):
            raise ConventionsError(f"{path}: {name}: allowed are backend, version and the tables {', '.join(Kind)}")
        kind = Kind(name)
        for option, lines in by_option.items():
            if option not in OPTIONS[kind] or not isinstance(lines, dict):
                raise ConventionsError(f"{path}: {name}.{option}: allowed are the tables {', '.join(OPTIONS[kind])}")
            for key, count in lines.items():
                op, _, about = key.partition(" ")
                if type(count) is not int or (kind is Kind.OFFERED and not about.removeprefix(ORDER).isdecimal()):
                    raise ConventionsError(f"{path}: {name}.{option}: {key!r} = {count!r} is no choice with a number of observations")
                yield OpenChoice(kind, op, about), option, count
