"""Functions of matrices that are made of an inverse: determinants, solutions, factors, powers; one row per op.

The matrices that are drawn are far from singular (`conformance.generate.matrices`), since nothing bounds the rounding of others.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from conformance.ops.calls import both
from conformance.ops.corners import given
from conformance.ops.draws import has_matrices
from conformance.ops.numbers import BOTH, UNEXAMINED, real_only
from conformance.ops.spec import PLAIN, Drawn, Growth, op, rows
from reference_impl.tape.primitive import Domain

if TYPE_CHECKING:
    from conformance.ops.sampler import Arguments, Draft, Draw, Sampler

POWERS = (2, 3, -1, -2)
FLAGS = (False, True)


def _is_square(x: Draft) -> bool:
    return has_matrices(x) and x.shape[-1] == x.shape[-2]


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


_TRIANGULAR = _system(vectors=False, upper=FLAGS, transposed=FLAGS, unit=FLAGS)
_POWER = _square(Domain.DOMINANT, n=POWERS)

_row = partial(op, exact=False, numbers=real_only(UNEXAMINED), growth=Growth.UNBOUNDED, points=PLAIN, drawn=Drawn.NAMED)

ENTRIES = rows(
    "matrices",
    _row(
        "triangular_solve",
        rank=97,
        draw=_TRIANGULAR,
        calls={
            "torch": "torch.linalg.solve_triangular(x.mT if transposed else x, y, upper=upper != transposed, unitriangular=unit)",
            "paddle": "paddle.linalg.triangular_solve(x, y, upper=upper, transpose=transposed, unitriangular=unit)",
        },
        corners={
            f"{'upper' if upper else 'lower'}{', transposed' * transposed}{', ones' * unit}": given(
                _TRIANGULAR, upper=upper, transposed=transposed, unit=unit
            )
            for upper in FLAGS
            for transposed in FLAGS
            for unit in FLAGS
        },
    ),
    _row("det", rank=188, draw=_square(Domain.DOMINANT), calls=both("torch.linalg.det(x)"), numbers=BOTH),
    _row("inv", rank=198, draw=_square(Domain.DOMINANT), calls=both("torch.linalg.inv(x)"), numbers=BOTH),
    _row("cholesky", rank=312, draw=_square(Domain.DEFINITE), calls=both("torch.linalg.cholesky((x + x.mT) * 0.5)")),
    _row(
        "cholesky_inverse",
        rank=313,
        draw=_one_factor,
        calls={
            "torch": "torch.cholesky_inverse(torch.tril(x))",
            "paddle": "paddle.linalg.cholesky_inverse(paddle.tril(x))",
        },
    ),
    _row(
        "cholesky_solve",
        rank=314,
        draw=_of_factor,
        calls={
            "torch": "torch.cholesky_solve(x, torch.tril(y))",
            "paddle": "paddle.linalg.cholesky_solve(x, paddle.tril(y), upper=False)",
        },
    ),
    _row("slogdet", rank=315, draw=_square(Domain.DOMINANT), calls=both("torch.linalg.slogdet(x)[1]")),
    _row("solve", rank=316, draw=_system(vectors=True), calls=both("torch.linalg.solve(x, y)")),
    _row(
        "matrix_power",
        rank=326,
        draw=_POWER,
        calls=both("torch.linalg.matrix_power(x, n)"),
        corners={f"power {n}": given(_POWER, n=n) for n in POWERS},
    ),
)
