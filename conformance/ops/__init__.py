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
    "convolutions",
    "resampling",
    "distances",
    "products",
    "fourier",
    "ordering",
    "statistics",
    "elementwise",
    "contractions",
    "norms",
    "matrices",
    "spectra",
    "eigenpairs",
    "elimination",
    "covariance",
    "exponentials",
    "reflections",
    "update",
    "assignments",
    "complex",
    "views",
    "scatter",
    "layout",
    "special",
    "gamma",
    "bessel",
    "entropies",
    "cross_entropies",
    "targets",
    "margins",
    "alignments",
    "dropout",
    "signals",
    "recurrent",
    "segments",
)


@functools.cache
def catalogue() -> Mapping[str, OpSpec]:
    """Return all entries, the simplest families first: a generator that shrinks ends at the front."""
    modules = [importlib.import_module(f"conformance.ops.families.{family}") for family in FAMILIES]
    return {entry.name: entry for module in modules for entry in module.ENTRIES}


NOT_OFFERED: Mapping[str, str] = {
    "dropout of some elements, by a mask": "random: the frameworks draw different masks from the same seed",
    "dropout with p = 0, and that of PyTorch in evaluation": "the tensor itself comes back; native_dropout is asked in evaluation",
    "attention of values as long as queries": "PyTorch takes a kernel by layout and seeds, of which one alone has a second "
    "derivative, so that a script is refused and computed; which kernel it takes is not modelled",
    "layer_norm with an eps above 0.001, over all axes, or with a weight of several axes": "Paddle refuses each of them",
    "group_norm of groups of one number": "its result is 0, and what is left of it the rounding of a formula that nobody promises",
    "grid_sample of the nearest place": "the gradient in the grid is zeros, which count as depending on what the other one does; "
    "that is not modelled",
    "grid_sample with a border or reflections, in three dimensions; interpolate by a scale": "come with the next ones",
    "convolutions without a bias, with a border of other than zeros, in other layouts": "come with the next ones",
    "gradients of weights of losses": "PyTorch refuses weights that require them, kernels of Paddle give them none",
    "binary_cross_entropy of probabilities that are 0 or 1": "what its gradient divides by is 1e-12 there, and no document says so",
    "binary_cross_entropy_with_logits at special logits, differentiated in its target": "targets are special numbers there, too, and "
    "of one that is no probability no document says anything",
    "label_smoothing beside an ignore_index": "its deviation is not written up: Paddle ignores nothing then, and counts otherwise",
    "label_smoothing and weights of soft labels along another axis than the last": "Paddle smooths and weighs along the last one; "
    "there the classes are moved to it",
    "targets that are a negative ignore_index": "cross_entropy of Paddle documents that it ignores none then; its nll_loss of images "
    "mostly dies of them (`paddle-nll-loss-ignored-crash`)",
    "targets that are all ignored": "their mean is 0/0 in PyTorch and 0 in Paddle, and no document says which",
    "losses of tensors without elements": "their mean is 0/0; what is made of them has not been looked at yet",
    "ctc_loss of sequences that are too short for their labels": "it is infinite, and what gradients are then the documents leave open",
    "programs of convolutions, windows, grids, distances, attention that is causal and most means of parts": "their deviations are not "
    "written up: most are those of eager mode, affine_grid has no shape while a program is built, and derivatives of convolutions die",
    "programs of sinc": "what they do there is not written up",
    "programs of positive of no elements or within no_grad, and of gammaincc whose derivative is refused": "what is wrong there is not "
    "written up: a seed that counts once and so has no gradient, two deviations in one number, and a process that dies",
    "distances of other norms than the second": "come with the next ones",
    "vector_norm along several axes": "its deviations are not written up: Paddle makes it of powers, of which second derivatives fail "
    "inside or are 0 where they are not",
    "norms of finite orders below 1 (but of pdist), between 1 and 2, and of no elements": "come with the next norms",
    "cross of a tensor and itself": "its result is 0, and what is left of it the rounding of products that nobody promises",
    "dist of the orders 3 and 4": "bounds of its third derivatives take longer than a case may",
    "cholesky_inverse of batches": "Paddle takes one matrix alone",
    "matrix_exp of more than 8 rows": "bounds of its third derivatives take longer than a case may",
    "singular matrices and repeated eigenvalues or singular values": "what is right there has not been looked at yet",
    "qr of wide matrices, or of which the first part alone is used": "Paddle takes no wide ones, and dies where the gradient of a part "
    "is missing (`paddle-qr-one-factor-crash`); the second part alone is asked",
    "ormqr of tall matrices": "Paddle refuses them, or multiplies with the first columns alone, where PyTorch has all of the product",
    "traces of batches": "come with the next ones",
    "equal elements where their order decides (of topk and sort, say)": "which of them is taken is documented as not guaranteed",
    "modes of elements of which none is the most frequent": "the smallest of several is taken, which no document says, "
    "nor which of equal elements the gradient goes to",
    "cummax and cummin of a number without axes along the axis -1": "Paddle reads its length from what lies before an empty shape, "
    "and the process may die of it (`paddle-cummax-number`); they are asked along the axis 0",
    "the mean of the two elements in the middle": "PyTorch has the smaller one alone, so medians are drawn with one in the middle",
    "std of equal numbers, var of one": "a kink, at which they differ, and 0/0",
    "cumprod with zeros, at higher orders": "PyTorch divides by each factor wherever none is 0 in the first pass",
    "ldexp of exponents that are tensors of floats": "come with the next ones",
    "gammainc and gammaincc of negative numbers, and their gradients in the order": "Paddle refuses negative numbers, of which the "
    "result is NaN in PyTorch, and no document says which; neither framework has the gradients",
    "exponents of frexp": "they are integers in PyTorch and constants of no use in a graph",
    "stft of complex signals, istft to them, windows that are shorter than the transform": "come with the next signals",
    "istft to signals that are longer than its windows reach": "PyTorch fills them with zeros and warns, Paddle returns less, and no "
    "document says which",
    "stft that is centred": "PyTorch makes its border by an op of its own, and what derivatives of that depend on is not modelled",
    "values of more than 4,096 elements in usual scripts": "chains of pads, tiles and products of all pairs would ask for more memory "
    "than there is; the profile `deep` joins thousands of values",
    "subnormal numbers in random graphs": "`conformance points` asks every op at them, one op at a time",
    "infinities and NaN in programs that round or have second derivatives, in scripts of complex numbers, and over ops that compare "
    "numbers or came later": "what becomes of them is often promised by nobody (ADR 51); `conformance points` asks every op at them",
    "equations of einsum that only reorder axes or read a diagonal": "their result is a view in PyTorch and a copy in Paddle",
    "an op that changes nothing (a cast to its own dtype)": "the tensor itself comes back, as documented; it is drawn to do something",
    "ops that came later (`Drawn.NAMED`), in programs that do not name them": "what random programs of them show has not been looked "
    "at yet; eager scripts, the grid and the special points have them",
    "third derivatives in static programs": "each costs a build of its own; scripts draw them",
    "slice_scatter of a negative axis": "Paddle writes elsewhere, and the process dies of it (`paddle-slice-scatter-negative-axis`)",
    "windows of unfold that leave elements out": "its deviation is not written up: Paddle's gradient there was never written",
    "narrow of views": "Paddle counts from the beginning of the memory, and writes the gradient beyond its end, so that later cases of "
    "the process die of it (`paddle-narrow-of-view`); a copy is narrowed",
    "lists among what a custom function returns": "a case has no value that is a list; Paddle dies of one of two tensors "
    "(`paddle-custom-list-output-crash`)",
    "index_copy of another axis than the first": "Paddle's `scatter` has none",
    "repeated indices of what is replaced": "which of the replacements stays is documented as undefined",
    "recurrent layers of lengths, without biases, by relu, three or more, two in both ways; last states": "come with the next ones",
    "windows that are rounded up and begin behind the border": "Paddle keeps them (`paddle-pool-window-beyond`), and what is made of a "
    "result of another shape is not followed; largest elements of windows that are rounded up come with the next ones",
    "lp_pool of windows with negative sums, and with a border": "PyTorch takes no border, and what its root of such a sum is, a NaN, "
    "no document says",
    "fractional_max_pool3d of regions that fill the axis": "PyTorch wants one place more than that, and two in two dimensions do",
    "fractional_max_pool2d to one place, or without a kernel": "the one window is the first in Paddle and the last in PyTorch, and no "
    "document says which; PyTorch wants a kernel",
    "complex cumprod": "comes with the next ones",
    "the mean, maximum and minimum of a segment without rows": "0 in Paddle, NaN and infinities in PyTorch, and no document says which",
    "clamp between two bounds that are tensors, or with one of several elements": "Paddle takes bounds of one element alone; two come "
    "with the next ones",
    "programs of linear algebra, transforms, orders and spreads": "what they do was not measured; programs that name them are followed",
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
