"""Functions of matrices that are made of an inverse: determinants, solutions, factors, powers; one row per op.

The matrices that are drawn are far from singular (`conformance.generate.matrices`), since nothing bounds the rounding of others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.ops.corners import given
from conformance.ops.numbers import BOTH, real_only
from conformance.ops.spec import PLAIN, Drawn, Growth, OpSpec, op, rows
from reference_impl.tape.primitive import Domain

if TYPE_CHECKING:
    from conformance.ops.numbers import Numbers
    from conformance.ops.sampler import Arguments, Draft, Draw, Sampler

COMPLEX_LATER = real_only("what the frameworks make of complex ones has not been looked at yet")
POWERS = (2, 3, -1, -2)
FLAGS = (False, True)


def _is_square(x: Draft) -> bool:
    return len(x.shape) >= 2 and x.shape[-1] == x.shape[-2] > 0 and 0 not in x.shape


def _square(domain: Domain, **choices: tuple[Any, ...]) -> Draw:
    """Draw square matrices, and one of each of these attributes."""

    def draw(s: Sampler) -> Arguments | None:
        x = s.take(_is_square, domain=domain, shape=(3, 3))
        return [x], {name: s.source.choice(options) for name, options in choices.items()}

    return draw


def _system(*, vectors: bool, **choices: tuple[Any, ...]) -> Draw:
    """Draw square matrices and right sides for them; ``vectors``: one matrix may have a vector."""

    def draw(s: Sampler) -> Arguments | None:
        x = s.take(_is_square, domain=Domain.DOMINANT, shape=(3, 3))
        alone = vectors and len(x.shape) == 2 and s.source.chance(0.3)
        y = s.take_shaped((x.shape[-1],) if alone else (*x.shape[:-1], s.source.integer(1, 3)))
        return [x, y], {name: s.source.choice(options) for name, options in choices.items()}

    return draw


def _of_factor(s: Sampler) -> Arguments | None:
    y = s.take(_is_square, domain=Domain.DEFINITE, shape=(3, 3))
    return [s.take_shaped((*y.shape[:-1], s.source.integer(1, 3))), y], {}


def _one_factor(s: Sampler) -> Arguments | None:
    """Draw one matrix: Paddle takes no batches here."""
    return [s.take(lambda d: _is_square(d) and len(d.shape) == 2, domain=Domain.DEFINITE, shape=(3, 3))], {}


def _row(name: str, rank: int, draw: Draw, torch: str, paddle: str, numbers: Numbers = COMPLEX_LATER, **more: Any) -> OpSpec:
    calls = {"torch": torch, "paddle": paddle}
    given = {"exact": False, "points": PLAIN, "growth": Growth.UNBOUNDED, "drawn": Drawn.NAMED, **calls, **more}
    return op(name, rank=rank, draw=draw, numbers=numbers, **given)


def _both(call: str) -> tuple[str, str]:
    return f"torch.{call}", f"paddle.{call}"


_TRIANGULAR = _system(vectors=False, upper=FLAGS, transposed=FLAGS, unit=FLAGS)
_POWER = _square(Domain.DOMINANT, n=POWERS)

ENTRIES = rows(
    "matrices",
    _row(
        "triangular_solve",
        97,
        _TRIANGULAR,
        "torch.linalg.solve_triangular(x.mT if transposed else x, y, upper=upper != transposed, unitriangular=unit)",
        "paddle.linalg.triangular_solve(x, y, upper=upper, transpose=transposed, unitriangular=unit)",
        corners={
            f"{'upper' if upper else 'lower'}{', transposed' * transposed}{', ones' * unit}": given(
                _TRIANGULAR, upper=upper, transposed=transposed, unit=unit
            )
            for upper in FLAGS
            for transposed in FLAGS
            for unit in FLAGS
        },
    ),
    _row("det", 188, _square(Domain.DOMINANT), *_both("linalg.det(x)"), BOTH),
    _row("inv", 198, _square(Domain.DOMINANT), *_both("linalg.inv(x)"), BOTH),
    _row("cholesky", 312, _square(Domain.DEFINITE), *_both("linalg.cholesky((x + x.mT) * 0.5)")),
    _row(
        "cholesky_inverse",
        313,
        _one_factor,
        "torch.cholesky_inverse(torch.tril(x))",
        "paddle.linalg.cholesky_inverse(paddle.tril(x))",
    ),
    _row(
        "cholesky_solve",
        314,
        _of_factor,
        "torch.cholesky_solve(x, torch.tril(y))",
        "paddle.linalg.cholesky_solve(x, paddle.tril(y), upper=False)",
    ),
    _row("slogdet", 315, _square(Domain.DOMINANT), *_both("linalg.slogdet(x)[1]")),
    _row("solve", 316, _system(vectors=True), *_both("linalg.solve(x, y)")),
    _row(
        "matrix_power",
        326,
        _POWER,
        *_both("linalg.matrix_power(x, n)"),
        corners={f"power {n}": given(_POWER, n=n) for n in POWERS},
    ),
)
