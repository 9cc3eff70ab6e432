"""Adapters that are no good, each in one way, for the command to be told to use."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from conformance.backends import BackendInfo
from conformance.backends.interpreter import Interpreter
from conformance.backends.reference import ReferenceEngine, reference
from reference_impl import OPS, TORCH, Dialect

if TYPE_CHECKING:
    from conformance.backends import Backend
    from conformance.backends.interpreter import Values
    from conformance.case.case import Case
    from conformance.case.outcome import Outcome
    from conformance.case.steps import Grad
    from reference_impl import Tensor

NO_CALLABLE = 3.5


class Version(str):
    """A version that is a str, and more than that."""

    __slots__ = ()


def raises() -> Backend:
    """Raise while the backend is opened."""
    raise RuntimeError("no licence")


def gives_none() -> dict[str, str]:
    """Open something that is no backend."""
    return {}


def has_no_version() -> Backend:
    """Open a backend whose version is a number."""
    return _with(2)


def has_a_special_version() -> Backend:
    """Open a backend whose version is of a subclass of str."""
    return _with(Version("2.13.0"))


def is_repeatable_sometimes() -> Backend:
    """Open a backend that says of two runs what no engine can say."""
    right = reference(TORCH, TORCH.not_offered)
    right.info = replace(right.info, repeatable="sometimes")  # type: ignore[arg-type]
    return right


class BreaksOnLeaves:
    """A backend that raises in the place of an answer."""

    info = BackendInfo("breaks", "1.0", TORCH, TORCH.not_offered)

    def run(self, case: Case) -> Outcome:
        """Raise."""
        raise ValueError(f"no leaf for {case.inputs[0].name}")


def breaks() -> Backend:
    """Open it."""
    return BreaksOnLeaves()


def _with(version: object) -> Backend:
    opened = reference(TORCH, TORCH.not_offered)
    opened.info = replace(opened.info, name="special", version=version)  # type: ignore[arg-type]  # that is what is wrong with it
    return opened


class Doubling(ReferenceEngine):
    """An engine all of whose gradients are twice what they should be."""

    def grad(self, step: Grad, values: Values) -> list[Tensor | None]:
        """Double them."""
        return [None if g is None else OPS["mul_scalar"](g, other=2.0) for g in super().grad(step, values)]


def doubles() -> Backend:
    """Open it."""
    return Interpreter(BackendInfo("doubles", "1.0", TORCH, TORCH.not_offered), Doubling(TORCH, widen=False))


def starts_from_nothing() -> Backend:
    """Open an engine that frees nothing and gives every tensor a ``.grad``, of which nobody has said so."""
    does = replace(TORCH, freed_refuses="nothing", retaining="every")
    opened = reference(does, does.not_offered)
    opened.info = replace(opened.info, name="unsaid", version="1.0", dialect=Dialect("unsaid"))
    return opened
