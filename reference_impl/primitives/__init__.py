"""The ops, one family a module. Importing this package fills `reference_impl.tape.primitive.OPS`."""

from reference_impl.primitives import (
    arithmetic,
    complex,
    convolution,
    elementary,
    indexing,
    linalg,
    losses,
    nn,
    piecewise,
    pooling,
    reduction,
    selection,
    shape,
    softmax,
    transcendental,
    update,
)

FAMILIES = (
    arithmetic,
    piecewise,
    elementary,
    complex,
    reduction,
    shape,
    indexing,
    linalg,
    selection,
    softmax,
    convolution,
    transcendental,
    losses,
    nn,
    pooling,
    update,
)
