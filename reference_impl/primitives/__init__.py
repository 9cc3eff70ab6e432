"""The ops, one family a module. Importing this package fills `reference_impl.primitive.OPS`."""

from reference_impl.primitives import arithmetic, elementary, indexing, linalg, reduction, selection, shape, softmax, update

FAMILIES = (arithmetic, elementary, reduction, shape, indexing, linalg, selection, softmax, update)
