"""What no engine of a run offers is not asked for in a script: parameters of `Backward`, and edges in the place of tensors.

It is left out of a script that was drawn, so that scripts are drawn the same for all engines.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from conformance.case.steps import Backward, Edge

if TYPE_CHECKING:
    from collections.abc import Collection

    from conformance.case.steps import Step

BY_PARAMETER = Backward.PARAMETERS
"""The parameters that are left out, with the words under which they are not offered."""


def as_offered(steps: list[Step], without: Collection[str]) -> list[Step]:
    """Return the steps of a script without what nobody offers."""
    edges = {step.results[0]: step.tensor for step in steps if isinstance(step, Edge)} if "step:edge" in without else {}
    left_out = {field: default for field, default in _defaults().items() if BY_PARAMETER[field] in without}
    found: list[Step] = []
    for step in steps:
        if isinstance(step, Backward):
            roots = tuple(edges.get(name, name) for name in step.tensors)
            found.append(msgspec.structs.replace(step, tensors=roots, **left_out))
        elif not (isinstance(step, Edge) and edges):
            found.append(step)
    return found


def _defaults() -> dict[str, object]:
    return {field.name: field.default for field in msgspec.structs.fields(Backward) if field.name in BY_PARAMETER}
