"""The loss of a sequence of labels of which nobody knows when each comes: connectionist temporal classification.

What is minimized is minus the logarithm of the probability of all alignments together: of all sequences of classes, one for each time,
that become the labels when repeated classes are made one and blanks are left out. They are summed as a product of matrices, time by
time, over the labels with a blank around each (A. Graves et al., "Connectionist Temporal Classification", 2006, section 4.1). A
probability of many times is none in any dtype, so sums of exponentials stand for the sums of products, and only what can be reached by
a time is summed then: all numbers are finite, and every order follows.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from reference_impl.primitives.arithmetic import add, div, neg
from reference_impl.primitives.fused import fused
from reference_impl.primitives.indexing import getitem_intarray
from reference_impl.primitives.losses import like, reduced
from reference_impl.primitives.reduction import logsumexp
from reference_impl.primitives.selection import masked_fill
from reference_impl.primitives.shape import cat, expand, narrow, reshape
from reference_impl.primitives.softmax import log_softmax
from reference_impl.tape.primitive import composite

if TYPE_CHECKING:
    from collections.abc import Sequence

BLANK = 0


def _steps(labels: Sequence[int]) -> Any:
    """Return from which of the labels with blanks which others are reached in one time: itself, the next, and over a blank."""
    size = len(labels)
    reached = np.eye(size, dtype=bool) | np.eye(size, k=1, dtype=bool)
    for i in range(2, size):
        reached[i - 2, i] = labels[i] not in (BLANK, labels[i - 2])
    return reached


def _of_one(x: Any, labels: Sequence[int], sample: int, times: int) -> Any:
    """Return minus the logarithm of the probability of the labels of a sample."""
    around = [BLANK, *(c for label in labels for c in (label, BLANK))]
    size = len(around)
    steps = _steps(around)
    places = [np.repeat(range(times), size).tolist(), [sample] * (times * size), around * times]
    logs = reshape(getitem_intarray(x, index=places), shape=(times, size))
    there = min(size, 2)
    ways = _at(logs, 0, there)
    for time in range(1, times):
        before, there = there, int(steps[:there].any(axis=0).sum())
        each = expand(reshape(ways, shape=(before, 1)), shape=(before, there))
        taken = masked_fill(each, mask=~steps[:before, :there], value=-math.inf)
        ways = add(logsumexp(taken, axis=0, keepdims=True), _at(logs, time, there))
    unfinished = np.arange(there)[None] < size - 2
    return neg(logsumexp(masked_fill(ways, mask=unfinished, value=-math.inf), axis=1, keepdims=False))


def _at(logs: Any, time: int, there: int) -> Any:
    """Return the logarithms at one time, of the labels that can be reached by then: those in front."""
    return narrow(narrow(logs, axis=0, start=time, length=1), axis=1, start=0, length=there)


@fused()
def alignments(x: Any, *, target: Any, times: Any, lengths: Any) -> Any:
    """Return the loss of each sample, of the logarithms of probabilities ``(times, samples, classes)``; the class 0 is the blank."""
    rows = zip(target, times, lengths, strict=True)
    return cat(*(_of_one(x, labels[:length], sample, until) for sample, (labels, until, length) in enumerate(rows)), axis=0)


@fused()
def alignments_of_scores(x: Any, *, target: Any, times: Any, lengths: Any) -> Any:
    """Return the same of scores, of which the softmax has the probabilities."""
    return alignments.forward(log_softmax(x, axis=2), target=target, times=times, lengths=lengths)


def _reduced(terms: Any, lengths: Any, reduction: str) -> Any:
    """Reduce the losses of samples; in their mean each is divided by how many labels it has."""
    return reduced(div(terms, like(lengths, terms)) if reduction == "mean" else terms, reduction)


@composite
def ctc_loss(x: Any, *, target: Any, times: Any, lengths: Any, reduction: str) -> Any:
    """Return the losses of `alignments` of the logarithms of a softmax of scores, reduced."""
    return _reduced(alignments(log_softmax(x, axis=2), target=target, times=times, lengths=lengths), lengths, reduction)


@composite
def ctc_loss_of_scores(x: Any, *, target: Any, times: Any, lengths: Any, reduction: str) -> Any:
    """Return the same as `ctc_loss`; Paddle has one node for it and its softmax."""
    return _reduced(
        reshape(alignments_of_scores(x, target=target, times=times, lengths=lengths), shape=(len(times),)), lengths, reduction
    )
