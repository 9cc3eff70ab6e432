"""The oracle along several directions at once, and along a line as a whole: what `rule_check` holds the rules against."""

from __future__ import annotations

import functools
import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from reference_impl.numerical import EPSILON, ROUNDINGS, Estimate, derivative, largest, line

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reference_impl.numerical import Array, Line

STEPS = tuple(0.125 / 2**halving for halving in range(5))
"""The steps along a line at which a Taylor remainder is taken."""


def mixed_derivatives(
    function: Callable[..., Any],
    operands: Sequence[Array],
    seeds: Sequence[Array],
    directions: Sequence[Sequence[Array | None]],
) -> tuple[Estimate, ...]:
    """Return for each order k the derivative of ``<seed, f(x)>`` along the first k directions in turn; see `line` for a direction.

    By polarization, ``D[d_1 .. d_k] = sum over signs of (s_2 .. s_k) phi_s^(k)(0) / (2^(n-1) k!)``, where ``phi_s`` is the line
    along ``d_1 + s_2 d_2 + .. + s_n d_n``: a symmetric multilinear form is known from its values on the diagonal. What the directions
    behind the k-th add cancels between their two signs, so that the lines of the highest order do for all. Where all directions are one
    there is but one line.
    """
    if all(d is directions[0] for d in directions):
        phi, size = line(function, operands, seeds, directions[0]), largest(d for d in directions[0] if d is not None)
        return tuple(derivative(phi, order, size) if size else Estimate(0.0, 0.0) for order in range(1, len(directions) + 1))
    values, errors = [0.0] * len(directions), [0.0] * len(directions)
    for signs in itertools.product((1.0, -1.0), repeat=len(directions) - 1):
        direction = _combine((1.0, *signs), directions)
        size = largest(d for d in direction if d is not None)
        if size == 0.0:
            continue
        phi = line(function, operands, seeds, direction)
        for order in range(1, len(directions) + 1):
            part = derivative(phi, order, size)
            share = 1.0 / (2 ** (len(directions) - 1) * math.factorial(order))
            values[order - 1] += share * math.prod(signs[: order - 1]) * part.value
            errors[order - 1] += share * part.error
    return tuple(itertools.starmap(Estimate, zip(values, errors, strict=True)))


def _combine(signs: Sequence[float], directions: Sequence[Sequence[Array | None]]) -> list[Array | None]:
    combined: list[Array | None] = []
    for parts in zip(*directions, strict=True):
        moving = [s * part for s, part in zip(signs, parts, strict=True) if part is not None]
        combined.append(functools.reduce(np.add, moving) if moving else None)
    return combined


def taylor_slope(phis: Sequence[Line], values: Sequence[Sequence[float]]) -> float:
    """Return the rate at which Taylor remainders vanish: at least k + 1 if all derivatives up to order k are right.

    For each line, ``values`` lists ``phi(0), phi'(0), .., phi^(k)(0)``; the remainder is ``phi(h) - sum_j phi^(j)(0) h^j / j!``.
    A wrong derivative of order j leaves a remainder of order ``h^j``, so the slope falls to j. (The Taylor test of P. Farrell et
    al., SIAM J. Sci. Comput. 35 (2013) C369-C393.) Several lines are taken together, root of the sum of squares, because the
    remainder of one may happen to change sign.

    The slope is that of the least-squares line through ``log remainder`` against ``log h``, over the steps where the remainder is
    no rounding error; infinity if fewer than two are left.
    """
    points: list[tuple[float, float]] = []
    for h in STEPS:
        remainder = rounding = 0.0
        for phi, known in zip(phis, values, strict=True):
            sample = phi(h)
            expansion = math.fsum(value * h**j / math.factorial(j) for j, value in enumerate(known))
            remainder += (sample.value - expansion) ** 2
            rounding += (ROUNDINGS * EPSILON * sample.scale) ** 2
        if not remainder <= rounding:
            points.append((math.log(h), 0.5 * math.log(remainder)))
    if not points[1:]:
        return math.inf
    x, y = np.array(points).T
    return float(np.polynomial.polynomial.polyfit(x, y, 1)[1])
