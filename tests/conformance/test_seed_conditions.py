"""What conditions on seeds say of scripts that are not as they were drawn."""

from __future__ import annotations

from conformance.case.case import Case, Input
from conformance.case.steps import Detach, Grad, Op, SetRequiresGrad
from conformance.deviations.conditions.complex import leaves_seeded_in_other_dtypes
from tests.conformance.engines import TOTAL


def test_a_leaf_that_was_never_made_is_not_seeded_in_another_dtype() -> None:
    """A counterfactual script may flag what is detached of a gradient, and that may be absent."""
    steps = (
        Op("sum", ("x",), ("y",), TOTAL),
        Grad(("y",), ("z",), ("absent",), allow_unused=True),
        Detach("absent", ("leaf",)),
        SetRequiresGrad("leaf", requires_grad=True),
        Grad(("leaf",), ("x",), ("g",), ("x",), allow_unused=True),
    )
    case = Case((Input("x", (2,), (1.0, 2.0)), Input("z", (2,), (1.0, 2.0))), steps)
    assert set() == leaves_seeded_in_other_dtypes(case, len(steps) - 1)
