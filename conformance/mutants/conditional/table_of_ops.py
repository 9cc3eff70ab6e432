"""The conditional faults of ops: which, where, what."""

from __future__ import annotations

from itertools import chain

from conformance.mutants.conditional.fault import rows

DOUBLED = "its gradients are doubled"
TURNED = "its gradients have the wrong sign"
ZERO = "its gradients are zero"
SLIGHTLY = "its gradients are wrong in the tenth bit"
BARELY = "its gradients are wrong in the twentieth bit"
ROUNDED = "its gradients are rounded to single precision"
CONJUGATED = "its gradients are conjugated"
FIRST = "the gradient of its first operand is doubled"
LAST = "the gradient of its last operand is doubled"
LAST_ZERO = "the gradient of its last operand is zero"
BLOCK = "gradients leak from its last block"
ELEMENT = "gradients leak from its first element"
SECOND = "its second derivatives are wrong"
SECOND_LAST = "the second derivative of its last operand is wrong"
MIXED = "its mixed second derivative is wrong"
THIRD = "its third derivatives are wrong"
FOURTH = "its fourth derivatives are wrong"
COPIED = "it is a copy"
SHARED = "it shares the memory of its operand"
TRANSPOSED = "its gradients are transposed"
OTHER_AXIS = "the gradient of its last operand is summed over the wrong axis"
UNRECORDED = "it is not recorded"

FAULTS = tuple(
    chain(
        # Sizes.
        rows("exp sin neg", "more than 8 elements", DOUBLED),
        rows("tanh mul polar", "more than 16 elements", DOUBLED),
        rows("relu div", "more than 32 elements", TURNED),
        rows("sigmoid sum clamp", "more than 256 elements", DOUBLED),
        rows("sqrt cos add softmax mse_loss glu", "a last block that is not full", BLOCK),
        rows("softmax cumsum tanh log_softmax", "rows with one element behind their blocks", BLOCK),
        rows("log abs view", "one element", DOUBLED),
        rows("erf add_scalar rsqrt imag", "a number", ZERO),
        rows("cat sum exp", "no elements", UNRECORDED),
        rows("cat", "no elements", ZERO),
        rows("mean flip squeeze", "an axis of length 1", DOUBLED),
        rows("pad_constant getitem_slice floor", "three axes", UNRECORDED),
        rows("linear", "three axes", LAST),
        rows("softplus tile masked_fill", "four axes", TURNED),
        rows("roll hardtanh stack", "five axes", DOUBLED),
        rows("softmax cumsum tanh flip", "a square operand", TRANSPOSED),
        rows("add sub mul div", "a square operand and its second operand broadcast", OTHER_AXIS),
        # Layouts.
        rows("exp matmul linear as_real", "a transposed operand", DOUBLED),
        rows("reshape flatten", "a transposed operand", ELEMENT),
        rows("sin cumsum relu6", "a strided operand", ELEMENT),
        rows("mul tril setitem", "an expanded operand", DOUBLED),
        rows("abs sub clone", "a reversed operand", TURNED),
        rows("tanh index_select hardshrink", "an operand at an offset", DOUBLED),
        rows("div reshape amax", "a view of a view", DOUBLED),
        # Numbers.
        rows("log square gelu", "float64", SLIGHTLY),
        rows("cast softplus", "float32", TURNED),
        rows("exp conj sgn permute", "complex numbers", DOUBLED),
        rows("abs angle matmul", "complex128", TURNED),
        rows("mul add", "two dtypes", LAST),
        rows("sin div sqrt layer_norm softmax", "float64", BARELY),
        rows("exp tanh sum matmul conv2d cross_entropy", "float64", ROUNDED),
        rows("cumsum mean", "float64 and more than 8 elements", ROUNDED),
        rows("mul matmul", "complex128", ROUNDED),
        rows("mul sum transpose cumsum fft det", "complex numbers", CONJUGATED),
        rows("div where", "complex numbers and its second operand broadcast", CONJUGATED),
        # Operands.
        rows("add mul minimum", "its first operand broadcast", FIRST),
        rows("sub div maximum", "its second operand broadcast", LAST),
        rows("mul where maximum", "both operands broadcast", LAST_ZERO),
        rows("matmul", "a batch beside a vector", DOUBLED),
        rows("pow fmax add mul sub div", "a number beside a tensor", LAST),
        rows("max amax", "elements that tie", TURNED),
        rows("mul sub matmul add", "one tensor as two operands", FIRST),
        rows("mul linear outer fmin masked_fill_tensor complex", "a constant beside it", DOUBLED),
        rows("linear", "its middle operand alone differentiable", DOUBLED),
        rows("cat stack", "many operands", LAST),
        rows("exp transpose", "a computed operand", TURNED),
        rows("mul tanh sum", "an operand that was used before", DOUBLED),
        rows("mul sin", "a derivative as its operand", DOUBLED),
        # Arguments.
        rows("cumsum softmax max unsqueeze topk unbind", "a negative axis", DOUBLED),
        rows("cumsum softmax sum", "the first axis by its number", DOUBLED),
        rows("min log_softmax flip logsumexp", "the last axis by its number", TURNED),
        rows("sum amax logsumexp", "several axes", DOUBLED),
        rows("flip", "several axes", DOUBLED),
        rows("mean amin", "all axes", ZERO),
        rows("sum prod amin", "kept axes", DOUBLED),
        rows("permute", "axes moved in a circle", ELEMENT),
        rows("pow_scalar", "exponent 3 | an exponent above 4 | a negative exponent | a fractional exponent", DOUBLED),
        rows("mul_scalar rdiv_scalar", "a negative number", TURNED),
        rows("rsub_scalar add_scalar", "a number above 4", DOUBLED),
        rows("getitem_int", "index -1", DOUBLED),
        rows("getitem_intarray getitem_slice setitem", "a negative index", TURNED),
        rows("index_select gather embedding getitem_intarray", "an index that repeats", DOUBLED),
        rows("getitem_strided", "a step of 3 or more", DOUBLED),
        rows("split chunk", "many parts", DOUBLED),
        rows("split", "uneven parts", BLOCK),
        rows("tile repeat repeat_interleave", "many repetitions", DOUBLED),
        rows("tril triu", "a far diagonal", TURNED),
        rows("roll", "a shift backwards", DOUBLED),
        rows("pad_constant", "wide padding", DOUBLED),
        rows("conv2d", "padding", LAST),
        rows("leaky_relu", "a steep slope", DOUBLED),
        # One order alone.
        rows("tanh matmul cos", "more than 16 elements", SECOND),
        rows("silu gelu", "a last block that is not full", SECOND),
        rows("log_softmax bmm", "a transposed operand", SECOND),
        rows("pow prod", "a strided operand", SECOND),
        rows("sin", "complex numbers", SECOND),
        rows("mul div", "its second operand broadcast", SECOND),
        rows("logsumexp", "a negative axis", SECOND),
        rows("sigmoid", "a computed operand", SECOND),
        rows("div conv2d", "float32", SECOND_LAST),
        rows("matmul linear hypot lerp", "float32", MIXED),
        rows("layer_norm", "more than 8 elements", MIXED),
        rows("pow_scalar", "exponent 3", THIRD),
        rows("sin exp", "more than 8 elements", THIRD),
        rows("log tanh", "float64", THIRD),
        rows("div", "a constant beside it", THIRD),
        rows("tanh sin", "more than 8 elements", FOURTH),
        # The memory of its operand.
        rows("transpose permute squeeze unsqueeze getitem_slice getitem_strided reshape", "three axes", COPIED),
        rows("transpose view", "float32", COPIED),
        rows("permute getitem_slice", "more than 8 elements", COPIED),
        rows("clone", "three axes | float32", SHARED),
        rows("mul_scalar", "the number 1", SHARED),
        rows("add_scalar", "the number 0", SHARED),
        # The past.
        rows("exp mul", "the second time in a script", DOUBLED),
        rows("sum sin", "the third time in a process", TURNED),
        rows("mul add", "a refusal before it", DOUBLED),
        rows("add tanh", "a pass before it", DOUBLED),
        rows("square exp", "a derivative with a graph before it", DOUBLED),
        rows("mul", "a hook before it", DOUBLED),
        rows(
            "asinh layer_norm conv1d einsum fft cumprod scatter var det lstm",
            "the second time in a script | a computed operand | a pass before it",
            DOUBLED,
        ),
        rows("asinh einsum gather_nd", "a derivative as its operand | a refusal before it", DOUBLED),
        # Two conditions at once.
        rows("exp mul", "float64 and a transposed operand", DOUBLED),
        rows("tanh add", "a last block that is not full and a strided operand", BLOCK),
        rows("sum cumsum", "a transposed operand and three axes", DOUBLED),
        rows("sum prod", "kept axes and a reversed operand", TURNED),
        rows("max softmax", "a negative axis and more than 32 elements", DOUBLED),
        rows("mul div", "its first operand broadcast and a constant beside it", DOUBLED),
        rows("add matmul", "a constant beside it and complex numbers", LAST),
        rows("index_select gather", "an index that repeats and an operand at an offset", DOUBLED),
        rows("getitem_int", "index -1 and more than 16 elements", DOUBLED),
        rows("pow_scalar", "exponent 3 and complex numbers", SECOND),
        rows("sin exp", "a transposed operand and float64", THIRD),
        rows("cat stack", "a negative axis and three axes", LAST),
        rows("where clamp", "more than 256 elements and float64", TURNED),
        rows("log_softmax", "a view of a view and float64", SECOND),
        # Ops of the other families, anywhere.
        rows("contiguous flatten t expand real as_complex triu fill getitem_reversed ceil round", "more than 8 elements", UNRECORDED),
    )
)
