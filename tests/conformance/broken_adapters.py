"""Adapters that are no good, each in one way, for the command to be told to use."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from conformance.backends import BackendInfo
from conformance.backends.reference import reference
from reference_impl import TORCH

if TYPE_CHECKING:
    from conformance.backends import Backend
    from conformance.case.case import Case
    from conformance.case.outcome import Outcome

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
