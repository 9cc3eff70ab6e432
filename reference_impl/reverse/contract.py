"""What the calls check before anything runs, in the order in which it is checked.

Each check names the promise that it holds (docs of the two frameworks; see `Dialect` for where they differ), or asks an open choice
of the kind `allowed`, where there is none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reference_impl.dialects.conventions import Kind
from reference_impl.errors import AutogradError, Category
from reference_impl.primitives.complex import is_complex
from reference_impl.primitives.promotion import cast, name_of
from reference_impl.tape.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reference_impl.dialects.dialect import Dialect


def seeded_roots(tensors: Sequence[Tensor], seeds: Sequence[Tensor | None] | None, dialect: Dialect) -> list[tuple[Tensor, Tensor]]:
    """Pair every differentiable root with its seed (the root's shape and dtype).

    Raises:
        AutogradError: a duplicate root, a wrong number of seeds, a seed of the wrong shape, a missing seed, a root without graph.
    """
    if dialect.duplicates == "refused" and _repeats(tensors):
        raise AutogradError(Category.DUPLICATE_TENSOR, "the same tensor stands twice among the roots")
    given: Sequence[Tensor | None] = [None] * len(tensors) if seeds is None else seeds
    check_seed_count(tensors, seeds, dialect)
    for root, seed in zip(tensors, given, strict=False):
        if seed is None:
            needed = root.requires_grad and dialect.implicit_seed == "one_real_element"
            if needed and (root.array.size != 1 or is_complex(root)):
                raise AutogradError(Category.SEED_REQUIRED, f"a root of shape {root.shape} and dtype {root.dtype} needs a seed")
            continue
        if seed.shape != root.shape:
            raise AutogradError(Category.SEED_SHAPE, f"a root of shape {root.shape} has a seed of shape {seed.shape}")
        check_seed_kind(root, seed, dialect)
    if len(given) != len(tensors):
        raise AutogradError(Category.SEED_LENGTH, f"{len(tensors)} roots have {len(given)} seeds")
    constant = not all(root.requires_grad for root in tensors)
    if constant and dialect.conventions.refuses(Kind.ALLOWED, "root", "that requires no gradient"):
        raise AutogradError(Category.ROOT_WITHOUT_GRAPH, "a root requires no gradient")
    return [(root, _seed(root, seed)) for root, seed in zip(tensors, given, strict=True) if root.requires_grad]


def check_seed_count(tensors: Sequence[Tensor], seeds: Sequence[Tensor | None] | None, dialect: Dialect) -> None:
    """Refuse a wrong number of seeds before anything else, where no root needs one; elsewhere roots without one are refused first."""
    if dialect.implicit_seed == "ones" and seeds is not None and len(seeds) != len(tensors):
        raise AutogradError(Category.SEED_LENGTH, f"{len(tensors)} roots have {len(seeds)} seeds")


def check_seed_kind(root: Tensor, seed: Tensor, dialect: Dialect) -> None:
    """Refuse a complex seed of a real root, a real one of a complex root, and one of another precision, where the engine does."""
    if seed.dtype == root.dtype:
        return
    about = "of another precision" if is_complex(seed) == is_complex(root) else "of another kind"
    if dialect.conventions.refuses(Kind.ALLOWED, "seed", about):
        raise AutogradError(Category.DTYPE, f"a root of {root.dtype} has a seed of {seed.dtype}")


def _seed(root: Tensor, seed: Tensor | None) -> Tensor:
    if seed is None:
        return Tensor(np.ones(root.shape, root.dtype))
    if seed.dtype == root.dtype:
        return seed
    return cast(seed, dtype=name_of(root.dtype))  # type: ignore[no-any-return]


def _repeats(tensors: Sequence[Tensor]) -> bool:
    return len({id(t) for t in tensors}) < len(tensors)


def check_inputs_distinct(outputs: Sequence[Tensor], inputs: Sequence[Tensor], dialect: Dialect) -> None:
    """Refuse an input that is asked for twice, where the dialect does."""
    if dialect.duplicates == "refused" and _repeats(inputs) and not _repeats(outputs):
        raise AutogradError(Category.DUPLICATE_TENSOR, "the same tensor stands twice among the inputs")


def check_inputs_differentiable(inputs: Sequence[Tensor]) -> None:
    """Refuse an input that requires no gradient."""
    if not all(t.requires_grad for t in inputs):
        raise AutogradError(Category.NOT_DIFFERENTIABLE, "an input requires no gradient")


def check_constant_inputs(inputs: Sequence[Tensor], dialect: Dialect) -> None:
    """Refuse an input that requires no gradient, where the engine does; elsewhere it is one that cannot be reached."""
    constant = not all(t.requires_grad for t in inputs)
    if constant and dialect.conventions.refuses(Kind.ALLOWED, "input", "that requires no gradient"):
        check_inputs_differentiable(inputs)


def check_only_inputs(only_inputs: bool, dialect: Dialect) -> None:
    """Refuse ``only_inputs=False`` where it is not supported."""
    if not only_inputs and dialect.only_inputs == "required":
        raise AutogradError(Category.BAD_ARGUMENT, "only_inputs=False is not supported")


def check_reached(reached: Sequence[bool]) -> None:
    """Refuse an input that no output depends on."""
    if not all(reached):
        raise AutogradError(Category.UNREACHABLE_INPUT, f"input {reached.index(False)} does not affect the outputs")
