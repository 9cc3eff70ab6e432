"""Cases that once showed a mistake of ours, each named after it: every one agrees on PyTorch, and on Paddle or as is known of it.

On PyTorch, too, those of `WRONG_ON_TORCH` differ as is known of it; Paddle does not offer what those of `OF_TORCH_ALONE` ask, nor
PyTorch what those of `OF_PADDLE_ALONE` do. In those of `VALUES_ALONE` nothing is differentiated, so that where no value differs nothing
was compared that a gradient hangs on.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from conformance.case.files import read
from tests.conformance import judged

if TYPE_CHECKING:
    from conformance.campaign.workers.pool import Workers
    from conformance.case.case import Case

RIGHT = ("agreed", "near_kink", "same_error", "unpromised")
KNOWN = (*RIGHT, "known_deviation")
WRONG_ON_TORCH = (
    "answers-that-stand-in-one-another",
    "batch-of-group-norm-above-what-was-freed",
    "batch-of-group-norm-asked-for-what-it-does-not-reach",
    "batch-behind-a-backward-with-inputs",
    "batch-of-identities-whose-seed-gives-a-leaf",
    "complex-seed-that-real-leaves-made",
    "cosine-of-nothing-twice",
    "edge-of-a-leaf-without-a-flag-as-a-root",
    "edge-of-a-leaf-without-a-flag-beside-what-was-written",
    "empty-batch-of-seeds-of-a-wrong-shape",
    "empty-complex-numbers-behind-a-freed-graph",
    "factor-of-three-axes-whose-flag-was-set-later",
    "gradient-that-is-a-part-of-a-seed-that-is-filled",
    "gradient-that-is-its-seed-expanded-and-added-to",
    "gradient-that-is-its-written-seed-and-was-added-to",
    "gradient-that-is-its-seed-as-an-input",
    "grad-of-nothing-that-was-joined-twice",
    "hook-on-a-dropout-of-nothing",
    "hook-on-a-result-of-a-normalization-of-groups",
    "hook-on-a-seed-that-is-asked-for-by-its-gradient",
    "hook-on-a-view-that-was-written-before-its-base",
    "hook-on-a-written-view-beside-a-view-of-it",
    "hooked-root-that-is-asked-for-beside-its-leaf",
    "largest-differences-of-a-solution-that-tie",
    "leaf-that-its-own-gradient-was-flagged-as",
    "matrix-of-a-solution-whose-flag-was-taken-off",
    "nan-that-logcumsumexp-leaves-out",
    "part-of-a-seed-that-was-added-to-as-a-seed",
    "real-number-beside-a-complex-one-in-two-passes",
    "real-view-of-a-complex-leaf-whose-flag-was-set-later",
    "retained-gradient-of-a-batch-that-is-refused",
    "retained-gradient-that-rounds-where-it-is-shared",
    "retained-leaf-beside-a-root-that-is-its-seed",
    "running-sum-that-begins-with-the-least-number",
    "scalars-whose-gradients-a-stack-put-in-one-memory",
    "second-derivative-of-a-damped-bessel-function",
    "second-derivative-of-renorm-at-zeros",
    "seed-of-a-stack-beside-a-gradient-in-another-dtype",
    "seed-that-a-cartesian-product-hands-on",
    "seed-that-a-custom-function-hands-on-through-its-derivative",
    "seed-that-a-diagonal-is-a-view-of",
    "seed-that-is-a-factor-after-it-was-added-to",
    "seed-that-a-scattered-part-is-a-view-of",
    "seed-of-a-view-that-was-written-since",
    "seed-of-an-edge-that-was-made-a-leaf",
    "seed-of-double-precision-that-is-handed-on",
    "seed-that-was-written-before-it-is-added-to",
    "seed-that-was-written-through-its-detached-self",
    "seeds-whose-gradients-lie-in-one-memory",
    "slice-of-everything-beside-what-it-was-taken-of",
    "strided-weight-of-two-normalizations-of-third-order",
    "sum-of-a-number-times-one-that-was-saved",
    "surplus-seed-of-a-freed-interpolation",
    "surplus-seed-of-a-freed-transform",
    "surplus-seed-of-a-pass-that-adds-to-a-seed",
    "surplus-seed-that-is-not-refused-before-a-leaf",
    "third-derivative-of-a-norm-by-an-edge",
    "third-derivative-of-a-norm-that-another-call-freed",
    "third-derivative-of-a-transposed-convolution-beside-a-freed-graph",
    "third-order-of-a-power-at-the-exponent-1",
    "view-of-a-view-beside-what-was-made-since",
    "view-of-what-was-made-a-leaf-is-asked-for-beside-another",
    "view-of-what-was-made-a-leaf-is-written",
    "weight-with-gaps-above-one-below-a-sum",
    "weight-with-gaps-above-what-has-gaps-below-a-sum",
    "weight-of-a-normalization-that-is-the-gradient-of-a-sum",
    "zero-of-a-solution-that-the-reference-has-a-rounding-for",
    "weight-with-gaps-below-a-cotangent-with-gaps",
    "weight-with-gaps-above-running-sums-of-what-is-transposed",
)
OF_TORCH_ALONE = (
    "batch-behind-a-backward-with-inputs",
    "batch-of-group-norm-asked-for-what-it-does-not-reach",
    "batch-of-identities-that-is-asked-for-its-seed",
    "batch-of-identities-whose-seed-gives-a-leaf",
    "edge-of-a-leaf-without-a-flag-as-a-root",
    "freed-node-of-a-batch",
    "grad-of-nothing-that-was-joined-twice",
    "leaf-that-a-batch-is-asked-for-twice",
    "leaf-that-its-own-gradient-was-flagged-as",
    "retained-gradient-of-a-batch-that-is-refused",
    "seed-of-an-edge-that-was-made-a-leaf",
    "sum-of-a-number-times-one-that-was-saved",
    "write-of-another-shape-to-a-gradient-of-a-batch",
)
OF_PADDLE_ALONE = (
    "dump-of-a-batch-norm-with-one-gradient",
    "dump-of-what-a-custom-function-leaves-out",
    "dump-of-what-runs-behind-what-a-custom-function-leaves-out",
    "op-in-the-place-of-a-removed-gradient",
    "output-behind-a-cut-before-a-custom-function-that-returns-too-few",
    "outputs-of-which-none-is-left-behind-a-cut",
    "returned-seed-in-a-call-with-a-graph",
)
VALUES_ALONE = (
    "angle-above-what-was-dropped",
    "angle-above-what-was-shrunk",
    "cast-of-what-was-interpolated-in-single",
    "constant-leaf-that-a-custom-function-returns",
    "detached-operand-that-a-custom-function-returns",
    "exponential-of-double-complex-in-place",
    "groups-of-numbers-that-a-recurrent-layer-rounds",
    "hardshrink-of-what-rounds-to-its-bound",
    "hardshrink-of-what-was-written",
    "hardshrink-whose-bound-has-a-neighbour",
    "largest-sizes-of-what-cancels",
    "list-of-two-dtypes-that-where-made",
    "logarithm-behind-a-rounded-exponent",
    "minus-zero-at-which-nothing-arrives",
    "multilabel-margin-of-large-logits",
    "number-of-double-precision-that-where-brought-to-single",
    "points-of-an-affine-grid-are-written",
    "ravel-of-a-part-with-gaps-is-written",
    "sign-of-what-rounds-to-nothing",
    "softplus-among-numbers-that-round-before",
    "softplus-that-is-multiplied-where-it-lies",
    "whole-numbers-above-a-solution-that-are-a-bound",
    "write-to-what-a-shape-op-returned",
)
PROGRAMS = (
    "both-operands-of-a-maximum-that-split-made",
    "bound-that-the-derivative-of-a-program-meets",
    "constant-seed-beside-the-part-of-a-stride-in-a-program",
    "cut-factor-beside-one-that-is-asked-for",
    "derivative-of-a-power-in-its-result-in-a-program",
    "derivative-of-a-quotient-beside-a-cut-at-the-quotient",
    "gradient-that-is-a-seed-behind-positive",
    "op-in-the-place-of-a-removed-gradient",
    "other-gradient-of-an-operator-beside-an-input",
    "part-of-a-split-that-a-seed-removed-with-its-sibling",
    "power-0-of-a-power-0-at-0",
    "power-of-a-power-whose-first-exponent-is-one",
    "quotient-of-a-quotient-of-a-constant",
    "result-of-a-split-beside-a-gradient-made-of-it",
    "slice-of-everything-beside-what-it-was-taken-of",
    "slice-of-everything-of-a-gradient-that-has-two-names",
    "slope-at-zero-beside-a-constant-summand",
    "third-derivative-of-a-linear-map-of-a-constant",
)
FILES = {path.stem: path for path in sorted(Path(__file__).parent.glob("*.json"))}


@functools.cache
def cases(names: tuple[str, ...] = tuple(FILES)) -> dict[str, Case]:
    """Read some of the cases, once, and not before a test asks."""
    return {name: read(FILES[name]) for name in names}


@pytest.mark.parametrize("backend", ["torch", "paddle"])
@pytest.mark.parametrize("name", FILES)
def test_a_case_that_was_judged_wrongly_is_judged_rightly(workers: Workers, name: str, backend: str) -> None:
    right: tuple[str, ...] = RIGHT if backend == "torch" and name not in WRONG_ON_TORCH else KNOWN
    if name in (OF_TORCH_ALONE if backend == "paddle" else OF_PADDLE_ALONE):
        right = ("not_offered",)
    if name in VALUES_ALONE:
        right = (*right, "nothing_compared")
    assert judged.verdicts(workers, backend, cases())[name].bucket in right


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_that_was_judged_wrongly_is_judged_rightly(workers: Workers, name: str) -> None:
    assert judged.verdicts(workers, "paddle-static", cases(PROGRAMS))[name].bucket in KNOWN
