"""What may be handed to the calls, and in which containers: from a user's arguments to lists of tensors.

PyTorch takes any iterable, Paddle takes lists and tuples; see `Dialect`. Whether flags have to be ``True`` or ``False`` is an open
choice. Whatever is not taken is refused as a ``bad_argument``. Sources: the signatures in the documentation of the four calls.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple

from reference_impl.dialects.conventions import Kind
from reference_impl.errors import AutogradError, Category
from reference_impl.tape.edge import GradientEdge
from reference_impl.tape.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from reference_impl.dialects.dialect import Dialect


class Default(Enum):
    """Stands for an argument that is not passed, where ``None`` is something else or is refused."""

    OF_THE_DIALECT = "of the dialect"


class Inputs(NamedTuple):
    """The inputs of a call: tensors, the keys that they were given under, and the positions at which edges stood."""

    tensors: list[Tensor]
    keys: list[Any] | None = None
    edges: frozenset[int] = frozenset()


def roots_of(given: Any, name: str, dialect: Dialect) -> list[Tensor]:
    """Return the roots; each an edge or a tensor, one alone needs no container."""
    if _is_plain(given):
        return given  # type: ignore[no-any-return]
    return [_tensor(t, name, dialect) for t in _elements(given, name, dialect)]


def inputs_of(given: Any, dialect: Dialect) -> Inputs:
    """Return the inputs; each an edge or a tensor. PyTorch takes a dict of them too, and refuses that there are none."""
    if _is_plain(given):
        return Inputs(given)
    keys = None
    if isinstance(given, Mapping):
        if type(given) is not dict or dialect.containers == "lists":
            raise _refusal("inputs", given)
        keys, given = list(given), list(given.values())
    elements = _elements(given, "inputs", dialect)
    if not elements:
        raise AutogradError(Category.BAD_ARGUMENT, "inputs cannot be empty")
    edges = frozenset(i for i, t in enumerate(elements) if type(t) is GradientEdge)
    return Inputs([_tensor(t, "inputs", dialect) for t in elements], keys, edges)


def seeds_of(given: Any, name: str, dialect: Dialect) -> Sequence[Tensor | None] | None:
    """Return the seeds, tensors or ``None``; ``None`` if no list of them is given."""
    if given is None:
        return None
    if not isinstance(given, list | tuple) and dialect.containers == "lists":
        given = [given]
    elements = [given] if isinstance(given, Tensor) else _iterated(given, name)
    for seed in elements:
        if seed is not None and not isinstance(seed, Tensor):
            raise _refusal(name, seed)
    return elements


def seeds_by_either_name(grad_tensors: Any, grad_variables: Any) -> Any:
    """Return what was passed under the new or the old name; both are refused."""
    if grad_variables is None:
        return grad_tensors
    if grad_tensors is not None:
        raise AutogradError(Category.BAD_ARGUMENT, "grad_variables is the old name of grad_tensors; both are given")
    return grad_variables


def no_grad_vars_of(given: Any) -> list[Tensor]:
    """Return the tensors that nothing flows to or through; one alone, a list, a tuple or a set."""
    if given is None:
        return []
    elements = [given] if isinstance(given, Tensor) else given
    if not isinstance(elements, list | tuple | set):
        raise _refusal("no_grad_vars", given)
    for tensor in elements:
        if not isinstance(tensor, Tensor):
            raise _refusal("no_grad_vars", tensor)
    return list(elements)


def flag_of(given: Any, name: str, dialect: Dialect) -> bool:
    """Return a flag; an engine may insist on ``True`` or ``False``."""
    if type(given) is not bool and flags_must_be_bool(dialect):
        raise _refusal(name, given)
    return bool(given)


def flags_must_be_bool(dialect: Dialect) -> bool:
    """Whether a flag is refused that is neither ``True`` nor ``False``."""
    return dialect.conventions.refuses(Kind.ALLOWED, "flag", "that is no bool")


def retain_of(given: Any, create_graph: bool, dialect: Dialect, *, optional: bool) -> bool:
    """Return whether the graph is kept: as ``create_graph`` says if not told, which ``None`` may stand for where ``optional``."""
    if given is Default.OF_THE_DIALECT or (given is None and (optional or not flags_must_be_bool(dialect))):
        return create_graph
    return flag_of(given, "retain_graph", dialect)


def allow_unused_of(given: Any, materialize_grads: bool, dialect: Dialect) -> bool:
    """Return whether unused inputs are absent: where they are materialized, unless that is contradicted."""
    if given is Default.OF_THE_DIALECT or (given is None and not flags_must_be_bool(dialect)):
        return materialize_grads
    if materialize_grads and given is False:
        raise AutogradError(Category.BAD_ARGUMENT, "allow_unused=False contradicts materialize_grads=True")
    return flag_of(given, "allow_unused", dialect)


def _is_plain(given: Any) -> bool:
    """Whether this is what most calls are handed, which needs no further look: a list of tensors."""
    return type(given) is list and {*map(type, given)} == {Tensor}


def _elements(given: Any, name: str, dialect: Dialect) -> Sequence[Any]:
    if isinstance(given, Tensor | GradientEdge):
        return [given]
    if dialect.containers == "iterables":
        return _iterated(given, name)
    if not isinstance(given, list | tuple) or not given:
        raise _refusal(name, given)
    return given


def _iterated(given: Iterable[Any], name: str) -> Sequence[Any]:
    if isinstance(given, list | tuple):
        return given
    try:
        return list(given)
    except TypeError:
        raise _refusal(name, given) from None


def _tensor(given: Any, name: str, dialect: Dialect) -> Tensor:
    if isinstance(given, Tensor):
        return given
    if isinstance(given, GradientEdge) and "gradient_edge" not in dialect.not_offered:
        return given.end()
    raise _refusal(name, given)


def _refusal(name: str, given: Any) -> AutogradError:
    return AutogradError(Category.BAD_ARGUMENT, f"{name} cannot be (or hold) {type(given).__name__} {given!r:.40}")
