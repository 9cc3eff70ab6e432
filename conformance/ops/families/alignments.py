"""The loss of sequences that are not aligned: one row.

Paddle takes the softmax of the scores by itself, PyTorch its logarithms. Sequences are long enough for their labels: of others the loss
is infinite.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from conformance.ops.corners import REDUCTIONS, each_reduction
from conformance.ops.draws import has_elements
from conformance.ops.families.losses import loss_row
from conformance.ops.spec import rows

if TYPE_CHECKING:
    from conformance.ops.sampler import Arguments, Draft, Sampler


def _fits(x: Draft) -> bool:
    return len(x.shape) == 3 and has_elements(x) and 2 <= x.shape[0] <= 5 and x.shape[2] > 1


def _sequences(s: Sampler) -> Arguments | None:
    """Draw scores of classes at each time, and for each sample labels, which repeat, and how many of them and of the times count."""
    x = s.take(_fits, shape=(4, 2, 3))
    longest, samples, classes = x.shape
    attrs: dict[str, Any] = {"target": [], "times": [], "lengths": []}
    for _ in range(samples):
        labels = [s.source.integer(1, classes - 1) for _ in range(longest)]
        length = s.source.integer(1, 2)
        needed = length + sum(a == b for a, b in itertools.pairwise(labels[:length]))
        length, needed = (length, needed) if needed <= longest else (1, 1)
        attrs["target"].append(labels)
        attrs["lengths"].append(length)
        attrs["times"].append(s.source.integer(needed, longest))
    attrs["times"][0] = longest  # both frameworks may ask that some sequence is as long as the tensor
    return [x], {**attrs, "reduction": s.source.choice(REDUCTIONS)}


ENTRIES = rows(
    "alignments",
    loss_row(
        "ctc_loss",
        rank=252,
        draw=_sequences,
        calls={
            "torch": "torch.nn.functional.ctc_loss(torch.log_softmax(x, 2), torch.tensor(target), torch.tensor(times), "
            "torch.tensor(lengths), reduction=reduction)",
            "paddle": "paddle.nn.functional.ctc_loss(x, paddle.to_tensor(target, dtype='int32'), paddle.to_tensor(times), "
            "paddle.to_tensor(lengths), reduction=reduction)",
        },
        corners=each_reduction(_sequences),
    ),
)
