"""Counterfactual losses of sequences that are not aligned; see `counterfactuals.rules`."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from conformance.ops.dtypes import format_of
from reference_impl.primitives.alignments import alignments, alignments_of_scores
from reference_impl.primitives.fused import pulled_through
from reference_impl.primitives.softmax import log_softmax
from reference_impl.tape.primitive import Primitive, straight_through
from reference_impl.tape.rules import replaced_forward, replaced_rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager


def unlikely_classes_raised(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have no class be less likely than the least normal number of a dtype, and gradients be what they are beside that."""
    yield from (_raised_to(format_of(dtype).tiny) for dtype in ("float32", "float64"))


@contextmanager
def _raised_to(least: float) -> Iterator[None]:
    raised = straight_through(Primitive(lambda x: np.maximum(x, x.dtype.type(np.log(least))), "raised", ()))

    def formula(x: Any, **attrs: Any) -> Any:
        return alignments.forward(raised(log_softmax(x, axis=2)), **attrs)

    def rule(g: Any, _: Any, x: Any, **attrs: Any) -> Any:
        return pulled_through(lambda scores: (formula(scores, **attrs),), 0, (g,), (x,))

    with ExitStack() as stack:
        stack.enter_context(replaced_forward(alignments_of_scores, lambda _: formula))
        stack.enter_context(replaced_rule(alignments_of_scores, 0, lambda _: rule))
        yield
