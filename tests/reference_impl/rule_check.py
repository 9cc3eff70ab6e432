"""The check of a vjp rule: what the reference engine differentiates against what the numerical oracle sees.

Both answer the same question: the derivatives of ``<seed, f(x)>`` along one direction, then along a second, then along a third.
The engine answers by `grad` with ``create_graph``, dotted with a direction, and so on; the oracle by forwards alone. From the
second order on the seed moves too: a gradient is linear in its seed, and a rule may get that wrong.
"""

from __future__ import annotations

import functools
import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from reference_impl import OPS, Tensor, grad
from reference_impl.dialects.dialect import FORMULAS
from reference_impl.numerical import Estimate, line
from tests.reference_impl.directions import mixed_derivatives, taylor_slope

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

HIGHEST = 3
LINES = 4
"""Along how many lines a Taylor remainder is taken."""
SHARP = 1e-4
"""An oracle's answer with a larger bound (a kink or a pole within the stencil) decides nothing: the caller draws again."""

Array: TypeAlias = "np.ndarray[Any, Any]"
Problem: TypeAlias = "tuple[Callable[..., Any], list[Array]]"
"""A function, and the operands at which it is differentiated."""


@dataclass(frozen=True)
class Comparison:
    """Per order from 1 on: what the rules say, and what the oracle says."""

    rules: tuple[float, ...]
    oracle: tuple[Estimate, ...]

    @property
    def first_wrong_order(self) -> int | None:
        """The lowest order at which the rules leave the oracle's bound."""
        wrong = (k for k, (rule, e) in enumerate(zip(self.rules, self.oracle, strict=True), 1) if not e.agrees_with(rule))
        return next(wrong, None)


@dataclass(frozen=True)
class Question:
    """A function at a point, with seeds, and three directions: one array per operand, then one per seed (``None``: stays)."""

    function: Callable[..., Any]
    operands: tuple[Array, ...]
    seeds: tuple[Array, ...]
    directions: tuple[tuple[Array | None, ...], ...]

    @functools.cached_property
    def oracle(self) -> tuple[Estimate, ...]:
        """What the oracle says at each order."""
        return mixed_derivatives(self.function, self.operands, self.seeds, self.directions)

    @property
    def is_sharp(self) -> bool:
        """Whether the oracle can tell right from wrong at every order; no rule is asked for that."""
        return all(estimate.is_sharp(SHARP) for estimate in self.oracle)

    def compare(self) -> Comparison:
        """Ask both."""
        return Comparison(tuple(by_rules(self.function, self.operands, self.seeds, self.directions)), self.oracle)


def ask(
    function: Callable[..., Any],
    operands: Sequence[Array],
    chosen: Sequence[int],
    random: np.random.Generator,
    *,
    move_seed: bool,
    one_way: bool = False,
) -> Question:
    """Draw seeds and directions; only the ``chosen`` operands move. ``one_way``: in the same direction at each order."""
    with np.errstate(all="ignore"):
        out = function(*operands)
    outs = [np.asarray(o) for o in (out if isinstance(out, tuple) else (out,))]
    seeds = tuple(draw_like(o, random) for o in outs)
    still: tuple[None, ...] = (None,) * len(seeds)
    directions: list[tuple[Array | None, ...]] = []
    for order in range(1, HIGHEST + 1):
        moves = tuple(draw_like(a, random) if i in chosen else None for i, a in enumerate(operands))
        turns = tuple(draw_like(s, random) for s in seeds) if move_seed and order > 1 else still
        directions.append((*moves, *turns))
    return Question(function, tuple(operands), seeds, tuple(directions[:1] * HIGHEST if one_way else directions))


def draw(shape: tuple[int, ...], random: np.random.Generator) -> Array:
    """Draw elements between 1/2 and 3/2 in size and of any sign: never all ones, and none so small that it hides an element."""
    return np.asarray(random.uniform(0.5, 1.5, shape) * random.choice([-1.0, 1.0], shape))


def draw_like(array: Array, random: np.random.Generator) -> Array:
    """Draw elements of the shape of an array, complex where it is."""
    drawn = draw(array.shape, random)
    return drawn + 1j * draw(array.shape, random) if np.iscomplexobj(array) else drawn


def _paired(gradient: Tensor, direction: Array) -> Tensor:
    """Return ``Re sum conj(direction) gradient``."""
    product = OPS["mul"](gradient, Tensor(np.conjugate(direction)))
    if np.iscomplexobj(direction):
        product = OPS["real"](product)
    return OPS["sum"](product, axis=None, keepdims=False)  # type: ignore[no-any-return]


def by_rules(
    function: Callable[..., Any],
    operands: Sequence[Array],
    seeds: Sequence[Array],
    directions: Sequence[Sequence[Array | None]],
) -> Iterator[float]:
    """Yield what the engine says, order by order; what is absent counts as zero.

    A gradient that has not the shape and dtype of its operand counts as NaN. Broadcasting would hide it: ``<d, g>`` is the same
    number whether ``g`` was summed back to the shape of ``d`` or not.
    """
    points = [Tensor(array, requires_grad=any(d[i] is not None for d in directions)) for i, array in enumerate((*operands, *seeds))]
    leaves, roots_seeds = points[: len(operands)], points[len(operands) :]
    out = function(*leaves)
    roots = list(out) if isinstance(out, tuple) else [out]
    for done, direction in enumerate(directions):
        moving = [(p, d) for p, d in zip(points, direction, strict=True) if d is not None]
        total = None
        if any(root.requires_grad for root in roots):
            found = grad(roots, [p for p, _ in moving], roots_seeds, create_graph=True, allow_unused=True, dialect=FORMULAS)
            for gradient, (point, d) in zip(found, moving, strict=True):
                if gradient is not None:
                    if (gradient.shape, gradient.dtype) != (point.shape, point.dtype):
                        yield from itertools.repeat(math.nan, len(directions) - done)
                        return
                    part = _paired(gradient, d)
                    total = part if total is None else OPS["add"](total, part)
        if total is None:
            total = Tensor(np.zeros(()))
        yield float(total.array)
        roots, roots_seeds = [total], [Tensor(np.ones(()))]


def slopes_by_rules(function: Callable[..., Any], operands: Sequence[Array], random: np.random.Generator) -> tuple[float, ...]:
    """Return the Taylor slopes of the engine's derivatives up to each order from 1 on, along a few lines; see `taylor_slope`."""
    phis, values = [], []
    for _ in range(LINES):
        question = ask(function, operands, range(len(operands)), random, move_seed=False)
        along = [None if d is None else d / 4 for d in question.directions[0]]
        phi = line(function, operands, question.seeds, along)
        phis.append(phi)
        values.append([phi(0.0).value, *by_rules(function, operands, question.seeds, [along] * HIGHEST)])
    return tuple(taylor_slope(phis, [known[: order + 1] for known in values]) for order in range(1, HIGHEST + 1))


def _choices(count: int) -> Iterator[Sequence[int]]:
    """Each operand alone, then all of them."""
    yield from ([i] for i in range(count))
    if count > 1:
        yield range(count)


def agrees(problem: Problem, random: np.random.Generator) -> bool:
    """Assert that rules and oracle agree; return whether the oracle could tell at all.

    An operand that moves alone moves along one line, which takes a quarter of the work: a derivative that is wrong in mixed directions
    alone shows where all move, in directions that differ from order to order.

    A kink or a pole within every stencil shows in the oracle's own bound, which is how such operands are recognised: no rule is
    asked, so a wrong rule cannot hide behind a resampled draw.
    """
    function, operands = problem
    for chosen in _choices(len(operands)):
        every = len(chosen) == len(operands)
        question = ask(function, operands, chosen, random, move_seed=every, one_way=not every)
        if not question.is_sharp:
            return False
        comparison = question.compare()
        assert comparison.first_wrong_order is None, f"operands {list(chosen)} of {function}: {comparison}"
    return True
