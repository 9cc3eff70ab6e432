"""Of which ops a derivative was compared, to which order, and in how many gradients: what a green run says of each op.

Not every op has a derivative of each order, or one that an engine offers. So it is said of each pair of an op and an order that a
backend offers whether it was compared often enough. An op that is a formula has the orders that all its parts have; which these are no
record says, so there an order is taken for offered if it is the first, or was compared.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from conformance.campaign.records.coverage import OF_OP, ORDERS, key_of_op
from conformance.case.prose import counted
from conformance.ops.orders import OF_PARTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.campaign.records import Footer, Header

ENOUGH = 300
"""In so many gradients a pair of an op and an order is compared often enough."""
SHOWN = 8
"""So many of the others are named in the terminal; the page has all."""


@dataclass(frozen=True, slots=True)
class Pairs:
    """The pairs of an op and an order that a backend offers: how many, and those compared too seldom, each with its gradients."""

    backend: str
    offered: int
    seldom: list[tuple[int, str, int]]

    def in_words(self) -> str:
        """Say how many of the pairs were compared often enough."""
        often = self.offered - len(self.seldom)
        return f"{often:,} of {self.offered:,} pairs of op and order were compared in {ENOUGH} gradients or more"


@dataclass(frozen=True, slots=True)
class Derivatives:
    """``rows``: the ops, least compared first, each with its numbers of gradients for every backend and order.

    ``pairs`` are those of each backend, where the record says what it offers.
    """

    backends: list[str]
    rows: list[tuple[str, list[int]]]
    pairs: list[Pairs]

    def cells(self) -> Iterator[tuple[str, list[tuple[int, str]]]]:
        """Yield each op with its numbers, each of these with ``gap`` where that is too few of what is offered."""
        seldom = {(op, pairs.backend, order) for pairs in self.pairs for _, op, order in pairs.seldom}
        places = [(name, order) for name in self.backends for order in ORDERS]
        for op, numbers in self.rows:
            short = [(op, *place) in seldom for place in places]
            yield op, [(number, "gap" if gap else "" if number else "soft") for number, gap in zip(numbers, short, strict=True)]


def derivatives_of(footer: Footer, backends: list[str], header: Header | None) -> Derivatives:
    """Sort the gradients that hang on each op by backend and order."""
    keys = {key for name in backends for key in footer.counts.get(name, {}) if key.startswith(OF_OP)}
    orders = {} if header is None else {b.name: b.orders for b in header.backends if b.orders}
    asked = None if header is None or header.ops is None else {*header.ops}
    ops = {key.removeprefix(OF_OP).rpartition(" @")[0] for key in keys}
    ops |= {op for known in orders.values() for op in known if asked is None or op in asked}
    rows = [(op, [footer.counts.get(name, {}).get(key_of_op(op, order), 0) for name in backends for order in ORDERS]) for op in ops]
    pairs = [
        _pairs(footer, name, {op: order for op, order in orders[name].items() if asked is None or op in asked})
        for name in backends
        if name in orders
    ]
    return Derivatives(backends, sorted(rows, key=lambda row: (sum(row[1]), row[0])), pairs)


def _pairs(footer: Footer, backend: str, orders: dict[str, int]) -> Pairs:
    counts = footer.counts.get(backend, {})
    compared = {(op, order): counts.get(key_of_op(op, order), 0) for op in orders for order in ORDERS}
    offered = {pair: count for pair, count in compared.items() if _is_offered(pair[1], orders[pair[0]], count)}
    return Pairs(backend, len(offered), sorted((count, *pair) for pair, count in offered.items() if count < ENOUGH))


def _is_offered(order: int, highest: int, count: int) -> bool:
    return order <= max(1, highest) or (highest == OF_PARTS and count > 0)


def in_words(found: Derivatives, names: list[str]) -> Iterator[str]:
    """Say for each backend and order how many ops there are, and which was compared least often; then which pairs were too seldom."""
    for number, name in enumerate(names):
        for place, order in enumerate(ORDERS):
            compared = {op: row[number * len(ORDERS) + place] for op, row in found.rows if row[number * len(ORDERS) + place]}
            if compared:
                least = min(compared, key=lambda op: (compared[op], op))
                usual = f"half of them in {counted(round(median(compared.values())), 'gradient')} or more, {least} in {compared[least]}"
                yield f"  {name}: derivatives of order {order}{'+' * (order == ORDERS[-1])} of {counted(len(compared), 'op')}: {usual}"
    titles = dict(zip(found.backends, names, strict=True))
    for pairs in found.pairs:
        fewest = ", ".join(f"{op} @{order} in {count}" for count, op, order in pairs.seldom[:SHOWN])
        more = f" and {len(pairs.seldom) - SHOWN:,} more" if len(pairs.seldom) > SHOWN else ""
        yield f"  {titles[pairs.backend]}: {pairs.in_words()}{f'; the others: {fewest}{more}' if fewest else ''}"
