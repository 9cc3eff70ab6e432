"""Of which ops a derivative was compared, to which order, and in how many gradients: what a green run says of each op.

Not every op has a derivative of each order, or one that an engine offers; so an order at which nothing was compared is no gap by
itself. The grid tells those apart, since it asks for each order of each op by name.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from conformance.campaign.coverage import OF_OP, ORDERS, key_of_op
from conformance.case.prose import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.campaign.records import Footer


@dataclass(frozen=True, slots=True)
class Derivatives:
    """``rows``: the ops, least compared first, each with its numbers of gradients for every backend and order."""

    backends: list[str]
    rows: list[tuple[str, list[int]]]


def derivatives_of(footer: Footer, backends: list[str]) -> Derivatives:
    """Sort the gradients that hang on each op by backend and order."""
    keys = {key for name in backends for key in footer.counts.get(name, {}) if key.startswith(OF_OP)}
    ops = {key.removeprefix(OF_OP).rpartition(" @")[0] for key in keys}
    rows = [(op, [footer.counts.get(name, {}).get(key_of_op(op, order), 0) for name in backends for order in ORDERS]) for op in ops]
    return Derivatives(backends, sorted(rows, key=lambda row: (sum(row[1]), row[0])))


def in_words(found: Derivatives, names: list[str]) -> Iterator[str]:
    """Say for each backend and order how many ops there are, and which was compared least often."""
    for number, name in enumerate(names):
        for place, order in enumerate(ORDERS):
            compared = {op: row[number * len(ORDERS) + place] for op, row in found.rows if row[number * len(ORDERS) + place]}
            if compared:
                least = min(compared, key=lambda op: (compared[op], op))
                usual = f"half of them in {counted(round(median(compared.values())), 'gradient')} or more, {least} in {compared[least]}"
                yield f"  {name}: derivatives of order {order}{'+' * (order == ORDERS[-1])} of {counted(len(compared), 'op')}: {usual}"
