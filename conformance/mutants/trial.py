"""What a rule answers at samples, and what operators make of that: which wrong rules change anything, and which are equivalent."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from operator import is_
from typing import TYPE_CHECKING, Any

import numpy as np

from conformance.compare.rounding import agrees_cheaply
from conformance.mutants.operators import CURVED, LINEAR, Place
from conformance.mutants.samples import samples, uneven
from reference_impl import Tensor, grad

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conformance.mutants.operators import Operator
    from conformance.mutants.samples import Sample

    Rule = Callable[..., Any]

DIFFERENTIATED = 4
"""At how many samples the derivatives of a rule are looked at."""


@dataclass(frozen=True)
class Trial:
    """A rule, as it is tried out."""

    place: Place

    @property
    def samples(self) -> tuple[Sample, ...]:
        """What the rule's op is applied to."""
        return samples(self.place.op)

    @functools.cached_property
    def outs(self) -> list[Any]:
        """What it makes of them."""
        with np.errstate(all="ignore"):
            return [self.place.op.forward(*sample.operands, **sample.attrs) for sample in self.samples]

    @functools.cached_property
    def seeds(self) -> list[Any]:
        """What arrives at each sample: nowhere the same."""
        random = np.random.default_rng(1)
        return [tuple(uneven(o, random) for o in out) if self.place.op.multi_output else uneven(out, random) for out in self.outs]

    @functools.cached_property
    def is_curved(self) -> bool:
        """Whether a derivative of what the rule answers depends on the operands, other than in pieces."""
        return not self.ruled_out(CURVED[0])

    def share(self, operator: Operator) -> float:
        """Return at what part of the samples an operator changes what the rule answers."""
        right = self._right_dependence if operator in SECOND else self._right
        return sum(not identical(wrong, answer) for wrong, answer in zip(self.answers(operator), right, strict=True)) / max(
            1, len(right)
        )

    def ruled_out(self, operator: Operator) -> str:
        """Say why an operator makes no mutant of the rule; nothing if it does."""
        if not operator.fits(self.place.op, self.samples):
            return "an op like this cannot have the mistake"
        right = self._right_dependence if operator in SECOND else self._right
        pairs = zip(self.answers(operator), right, strict=True)
        if any(wrong is not None and not identical(wrong, answer) for wrong, answer in pairs):
            return ""
        return f"equivalent: at {len(right)} samples it answers what the right rule answers"

    def answers(self, operator: Operator) -> Iterator[Any]:
        """Yield what an operator makes the rule answer at each sample; ``None`` where it refuses.

        For faults of order 2 that is how the answer depends on the operands and on the cotangents.
        """
        if operator in SECOND:
            return self._asked(self._dependence, functools.partial(operator.mistake, self.place, self._rule), DIFFERENTIATED)
        return self._asked(self._mistaken, operator.mistake)

    def _asked(self, ask: Callable[[Rule, int], Any], about: Rule, most: int | None = None) -> Iterator[Any]:
        for number in range(len(self.samples))[:most]:
            try:
                with np.errstate(all="ignore"):
                    yield ask(about, number)
            except (ValueError, IndexError, TypeError):
                yield None

    @functools.cached_property
    def _right(self) -> list[Any]:
        return list(self._asked(self._value, self._rule))

    @functools.cached_property
    def _right_dependence(self) -> list[Any]:
        return list(self._asked(self._dependence, self._rule, DIFFERENTIATED))

    @functools.cached_property
    def _rule(self) -> Rule:
        rule = self.place.op.rules[self.place.position]
        assert rule is not None  # noqa: S101 - only rules that there are are tried out
        return rule

    def _given(self, number: int) -> dict[str, Any]:
        sample = self.samples[number]
        return {**sample.attrs, "position": len(sample.operands) - 1} if self.place.op.variadic else sample.attrs

    def _value(self, rule: Rule, number: int) -> Any:
        return rule(self.seeds[number], self.outs[number], *self.samples[number].operands, **self._given(number))

    def _mistaken(self, mistake: Rule, number: int) -> Any:
        """Ask the rule with a mistake; most of these ask the right rule for what is known, and change what it answers."""
        asked, attrs = (self.seeds[number], self.outs[number], *self.samples[number].operands), self._given(number)
        known = self._right[number]

        def right(*given: Any, **how: Any) -> Any:
            same = len(given) == len(asked) and all(map(is_, given, asked)) and all(how.get(name) is attrs[name] for name in attrs)
            return known if same and known is not None else self._rule(*given, **how)

        return self._value(functools.partial(mistake, self.place, right), number)

    def _dependence(self, rule: Rule, number: int) -> tuple[Any, ...]:
        sample, seeds, op = self.samples[number], self.seeds[number], self.place.op
        operands = [Tensor(array, requires_grad=True) for array in sample.operands]
        arriving = [Tensor(array, requires_grad=True) for array in (seeds if op.multi_output else (seeds,))]
        points = [*operands, *arriving]
        g = tuple(arriving) if op.multi_output else arriving[0]
        made = rule(g, op(*operands, **sample.attrs), *operands, **self._given(number))
        found: list[Tensor | None] = [None] * len(points)
        if isinstance(made, Tensor) and made.requires_grad:
            found = grad([made], points, [Tensor(uneven(made.array, np.random.default_rng(1)))], allow_unused=True)
        return tuple(np.zeros_like(point.array) if g is None else g.array for g, point in zip(found, points, strict=True))


SECOND = (*CURVED, *LINEAR)


@functools.cache
def trial(place: Place) -> Trial:
    """Return the trial of a rule; what is found out once is kept."""
    return Trial(place)


def identical(one: Any, other: Any) -> bool:
    """Whether two answers are the same: of rules to the last bit, of their derivatives, which rounding may tell apart, nearly."""
    if one is None or other is None:
        return one is other
    if isinstance(one, tuple):
        return all(map(_near, one, other))
    return one.dtype == other.dtype and np.array_equal(one, other, equal_nan=True)


def _near(one: Any, other: Any) -> bool:
    return one.shape == other.shape and agrees_cheaply(one, other)
