"""Numerical derivatives: an oracle that knows no vjp rule.

It sees a function of arrays from the outside. What it differentiates is the pairing ``phi(t) = <seed + t e, f(x + t d)>`` along
straight lines, by high-order central differences whose step is halved until the answer stops moving.

Every answer is an `Estimate` with its own error bound, made of what the halving still changed and of what rounding can do at that
step. A kink or a pole near the point shows as a large bound: the caller then chooses another point, not another tolerance.

`f` takes the operands (arrays of any shapes) and returns one array or a tuple; seeds have the shapes of the outputs, directions
the shapes of what they move. Complex numbers count as pairs of real ones: the pairing is ``Re sum conj(seed) f``.
The sums run in float64. Nothing here imports the engine.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

HALF_WIDTH = 5
REACHES = (0.32, 0.16, 0.08, 0.04, 0.02)
ROUNDINGS = 16
EPSILON = float(np.finfo(np.float64).eps)

Array: TypeAlias = "np.ndarray[Any, Any]"
Line: TypeAlias = "Callable[[float], Sample]"


@dataclass(frozen=True, slots=True)
class Sample:
    """``phi`` at one point, and the scale to which its rounding errors are relative."""

    value: float
    scale: float


@dataclass(frozen=True, slots=True)
class Estimate:
    """A derivative and a bound on its error; a bound of infinity says that nothing could be computed."""

    value: float
    error: float

    def agrees_with(self, value: float) -> bool:
        """Whether a value lies within the bound; a NaN never does."""
        return abs(value - self.value) <= self.error

    def is_sharp(self, tolerance: float) -> bool:
        """Whether the bound is small enough, relative to the value or absolutely, to tell right from wrong."""
        return self.error <= tolerance * max(1.0, abs(self.value))


@functools.cache
def stencil(order: int, half_width: int = HALF_WIDTH) -> tuple[float, ...]:
    """Weights ``w`` of the central difference ``f^(order)(0) ~ h^-order sum_i w_i f(i h)``, ``i = -half_width .. half_width``.

    The weight of node i is the derivative at 0 of its Lagrange polynomial ``prod_j (x - j) / (i - j)``, that is ``order!`` times
    the coefficient of ``x^order``: what B. Fornberg, Math. Comp. 51 (1988) 699-706, evaluates by a recursion. Rational arithmetic
    makes the recursion unnecessary. For the order of the error see `exponent`.
    """
    nodes = range(-half_width, half_width + 1)
    weights = []
    for i in nodes:
        coefficients = [Fraction(1)]
        for j in nodes:
            if j != i:
                shifted = [Fraction(0), *coefficients]
                scaled = [*(-j * c for c in coefficients), Fraction(0)]
                coefficients = [(a + b) / (i - j) for a, b in zip(shifted, scaled, strict=True)]
        weights.append(float(math.factorial(order) * coefficients[order]))
    return tuple(weights)


def exponent(order: int, half_width: int = HALF_WIDTH) -> int:
    """Power of h with which the error of `stencil` vanishes: ``2 half_width + 1 - order``, by symmetry rounded up to even."""
    plain = 2 * half_width + 1 - order
    return plain + plain % 2


def sample(points: Iterable[Array], seeds: Sequence[Array], outs: Sequence[Array], still: float = 0.0) -> Sample:
    """Return ``sum_k Re <conj(seed_k), out_k>`` at ``points`` (the operands, and the seeds if they move).

    A sum may round relative to operands much larger than itself, hence their size is part of the scale. ``still``: that of the largest
    of those that are not among the points, since they are the same for all samples.
    """
    terms = [np.multiply(np.conjugate(s), o).real.ravel() for s, o in zip(seeds, outs, strict=True)]
    flat = (terms[0] if len(terms) == 1 else np.concatenate(terms)).astype(np.float64, copy=False)
    size = float(np.abs(flat).sum())
    is_finite = math.isfinite(size) or bool(np.isfinite(flat).all())
    return Sample(math.fsum(flat.tolist()) if is_finite else math.nan, size + max(still, largest(points)))


def largest(arrays: Iterable[Array]) -> float:
    """Return the size of the largest element of some arrays."""
    return max((float(np.abs(a).max()) for a in arrays if a.size), default=0.0)


def nodes(size: float = 1.0) -> list[float]:
    """Return every point of a line that `derivative` looks at."""
    return sorted({i * (reach / (HALF_WIDTH * size)) for reach in REACHES for i in range(-HALF_WIDTH, HALF_WIDTH + 1)})


def line(
    function: Callable[..., Any],
    operands: Sequence[Array],
    seeds: Sequence[Array],
    direction: Sequence[Array | None],
) -> Line:
    """Return ``phi(t) = sum_k <seed_k + t e_k, f_k(x + t d)>``.

    ``direction`` is ``(*d, *e)``, one array per operand and then one per seed; ``None`` stands still. Calls are remembered: steps
    that are halves of each other share half of their nodes.
    """
    points = (*operands, *seeds)
    still = largest(p for p, d in zip(points, direction, strict=True) if d is None)

    @functools.cache
    def phi(t: float) -> Sample:
        moved = [p if d is None else np.asarray(p + t * d) for p, d in zip(points, direction, strict=True)]
        with np.errstate(all="ignore"):
            out = function(*moved[: len(operands)])
        outs = out if isinstance(out, tuple) else (out,)
        moving = (p for p, d in zip(moved, direction, strict=True) if d is not None)
        return sample(moving, moved[len(operands) :], outs, still)

    return phi


def derivative(phi: Line, order: int, size: float = 1.0) -> Estimate:
    """Return ``phi^(order)(0)``; ``size`` is the largest element of the direction, so that steps are lengths in x.

    The step is halved along `REACHES` (how far the outermost node lies). With ``A(h)`` the central difference and p its exponent,
    Richardson's extrapolation is ``R = A(h) + (A(h) - A(2h)) / (2^p - 1)`` (L. F. Richardson and J. A. Gaunt, Phil. Trans. A 226
    (1927) 299-361). The bound is what the halving changed, ``|A(h) - A(2h)|``, plus the rounding ``eps / h^order``; the step with
    the smallest bound wins (C. Ridders, Adv. Eng. Softw. 4 (1982) 75-76).

    What the halving changed is a bound only where the differences converge, ``|A(h) - A| <= sum of all later changes``. Across a pole
    they do not: of ``1 / (t - a)`` with ``a`` within reach every halving changes more than the one before, and the first change is the
    smallest. So a change counts only where it is what a halving must make of the one before, which is less by ``2^p``; one that has
    not fallen by the root of that says that neither it nor any change before it is a bound. The same is asked of what the two outermost
    nodes add, with the exponent of the stencil without them. That needs no further node, and stands before the first change, too.

    A kink exactly at the point is the one thing that halving cannot see at every order: central differences of odd order average
    the slopes of ``|t|``, for every h. Those of the next order diverge, so orders 1 to 3 are judged together.
    """
    falls = [2.0 ** (0.5 * exponent(order, width)) for width in (HALF_WIDTH, HALF_WIDTH - 1)]
    gain = 2.0 ** exponent(order) - 1.0
    best = Estimate(math.nan, math.inf)
    coarse = math.nan
    before: tuple[float, float] | None = None
    for reach in REACHES:
        h = reach / (HALF_WIDTH * size)
        samples = [phi(i * h) for i in range(-HALF_WIDTH, HALF_WIDTH + 1)]
        weights = stencil(order)
        fine = _weighted(samples, weights) / h**order
        rounding = ROUNDINGS * EPSILON * sum(abs(w) * s.scale for w, s in zip(weights, samples, strict=True)) / h**order
        added = abs(fine - _weighted(samples[1:-1], stencil(order, HALF_WIDTH - 1)) / h**order)
        changes = (added if before is None else abs(fine - coarse), added)
        if before is not None:
            error = changes[0] + rounding
            if not all(now <= was / fall + rounding for now, was, fall in zip(changes, before, falls, strict=True)):
                best = Estimate(math.nan, math.inf)
            elif error < best.error:
                best = Estimate(fine + (fine - coarse) / gain, error)
        if 2 * rounding > best.error:
            break  # the rounding at least doubles with each halving, so that no smaller step is better
        coarse, before = fine, changes
    return best


def _weighted(samples: Sequence[Sample], weights: Sequence[float]) -> float:
    return math.fsum(w * s.value for w, s in zip(weights, samples, strict=True))
