"""The op catalogue: every op that a random graph can use, by name.

An op lives in two places, found by its name and family: its rule in ``reference_impl/primitives/<family>.py``, and its row here in
``conformance/ops/families/<family>.py`` (`conformance.ops.spec` says what a row holds). Nothing else knows it by name.
"""

from __future__ import annotations

import functools
import importlib
from typing import TYPE_CHECKING

from conformance.ops import in_place, numbers
from conformance.ops.in_place import NotOffered

if TYPE_CHECKING:
    from collections.abc import Mapping

    from conformance.ops.spec import OpSpec

FAMILIES = (
    "arithmetic",
    "elementary",
    "piecewise",
    "reduction",
    "shape",
    "indexing",
    "linalg",
    "selection",
    "softmax",
    "convolution",
    "transcendental",
    "activations",
    "losses",
    "nn",
    "pooling",
    "products",
    "contractions",
    "norms",
    "matrices",
    "spectra",
    "update",
    "complex",
)


@functools.cache
def catalogue() -> Mapping[str, OpSpec]:
    """Return all entries, the simplest families first: a generator that shrinks ends at the front."""
    modules = [importlib.import_module(f"conformance.ops.families.{family}") for family in FAMILIES]
    return {entry.name: entry for module in modules for entry in module.ENTRIES}


NOT_OFFERED: Mapping[str, str] = {
    "dropout": "random: the frameworks draw different masks from the same seed",
    "scaled_dot_product_attention": "PyTorch takes a kernel by layout and seeds, of which one alone has a second "
    "derivative, so that a script is refused and computed; which kernel it takes is not modelled",
    "layer_norm with an eps above 0.001, over all axes, or with a weight of several axes": "Paddle refuses each of them",
    "group_norm of groups of one number": "its result is 0, and what is left of it the rounding of a formula that nobody promises",
    "normalize, cosine_similarity, unfold, fold": "come with the next ops of the nn families",
    "pixel_shuffle, pixel_unshuffle": "no shape of the grid has as many channels, or as many even axes, as they take",
    "rms_norm": "Paddle has no kernel of it for the CPU",
    "conv1d, conv3d, conv_transpose, strides, dilations, groups": "the nn families come later",
    "gradients of targets and weights": "PyTorch refuses weights that require them, kernels of Paddle give labels none",
    "binary_cross_entropy of probabilities": "its deviation is not written up: PyTorch is off by 5e-12 at order 2",
    "label_smoothing": "its deviations are not written up: Paddle rounds it to float32, and wants the classes in the last axis",
    "cross_entropy of soft labels, each by itself": "its deviation is not written up: Paddle's result has one more axis",
    "targets that are a negative ignore_index": "cross_entropy of Paddle documents that it ignores none then; its nll_loss of images "
    "mostly dies of them (`paddle-nll-loss-ignored-crash`)",
    "targets that are all ignored": "their mean is 0/0 in PyTorch and 0 in Paddle, and no document says which",
    "hinge_embedding_loss and margin_ranking_loss without axes": "their deviation is not written up: Paddle's result has an axis",
    "losses of tensors without elements": "their mean is 0/0; what is made of them has not been looked at yet",
    "triplet_margin_loss, cosine_embedding_loss, gaussian_nll_loss, ...": "the losses of distances and variances come later",
    "hypot": "its deviations are not written up: both make NaN or infinity of numbers whose squares or products overflow",
    "logaddexp": "its deviations are not written up: NaN in PyTorch's second derivative at differences of 89, at infinities in Paddle",
    "prelu": "its deviations are not written up: Paddle dies at a case of the grid, PyTorch's slope at 0 does not follow the weight",
    "atan2": "its slopes over x^2 + y^2 overflow and underflow; what is right there has not been looked at yet",
    "sinc": "its deviations are not written up: PyTorch's second derivative at 0 is NaN, Paddle's result at infinities is 1",
    "cumprod": "PyTorch divides a running sum in its backward, where no number is 0, and bounds of that rounding are not derived yet",
    "var, std": "PyTorch's third derivatives centre another factor than the formula here does, and where it is constant the bounds of "
    "the formula are too narrow for what is left",
    "nansum, logcumsumexp": "come with the next reductions",
    "vector_norm along several axes": "its deviations are not written up: Paddle makes it of powers, of which second derivatives fail "
    "inside or are 0 where they are not",
    "norms of orders below 1, between 1 and 2, 0 and -inf, and of no elements": "come with the next norms",
    "eigenvalues of batches": "its deviation is not written up: where the seed is a transposed tensor, Paddle's gradients of eigh and "
    "eigvalsh read it as it lies in memory",
    "cross of a tensor and itself": "its result is 0, and what is left of it the rounding of products that nobody promises",
    "dist of the orders 3 and 4": "bounds of its third derivatives take longer than a case may",
    "cholesky_inverse of batches": "Paddle takes one matrix alone",
    "matrix_exp": "its deviations are not written up: Paddle finds a zero matrix unreachable and writes in place over what it needs",
    "singular matrices and repeated eigenvalues or singular values": "what is right there has not been looked at yet",
    "qr of wide matrices, or of which one part alone is used": "Paddle takes no wide ones, and its deviation is not written up: "
    "it dies where the gradient of a part is missing",
    "lu, eig, householder_product, ormqr, pdist, cov, corrcoef": "come with the next ops of linear algebra",
    "products of other than matrices and vectors (Kronecker, inner), traces of batches": "come with the next ones",
    "interpolate": "the nn families come later",
    "setitem with masks or lists, masked_scatter": "the shape of what is read depends on data",
    "getitem with masks": "the shape of the result depends on data",
    "sort, cummax, median, kthvalue, mode": "come with the ordering family; topk is offered, with elements that differ",
    "topk of equal elements": "which of them is taken is documented as not guaranteed",
    "infinities, NaN and subnormals in random graphs": "`conformance points` asks every op at them, one op at a time",
    "equations of einsum that only reorder axes or read a diagonal": "their result is a view in PyTorch and a copy in Paddle",
    "an op that changes nothing (a cast to its own dtype)": "the tensor itself comes back, as documented; it is drawn to do something",
    "conv2d in eager scripts": "PyTorch frees and links its two gradients as one, which is not modelled; programs draw it",
    "ops that came later (`Drawn.NAMED`), in graphs that do not name them": "the grid, the special points and graphs that name them "
    "have them; all graphs will, once the shares of the known deviations are measured anew",
    "third derivatives in static programs": "each costs a build of its own; scripts draw them",
    **in_place.NOT_OFFERED,
    **numbers.NOT_OFFERED,
    "float16, bfloat16": "Paddle has no CPU kernel of add for them, so it cannot even sum two contributions to a gradient",
}
"""What random graphs do not use yet of the first ranks of the op universe, with the reason. What is about one op, its row says."""


def not_offered() -> dict[str, str]:
    """Return all that random graphs do not use yet, with the reason: of single ops, what their rows say."""
    rows = catalogue().values()
    forms = {f"{row.name} in place": row.in_place.reason for row in rows if isinstance(row.in_place, NotOffered)}
    return {**NOT_OFFERED, **forms, **{f"{row.name} of complex numbers": row.numbers.reason for row in rows if row.numbers.reason}}
