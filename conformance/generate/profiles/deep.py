"""Graphs of thousands of nodes: long chains, wide fans, and paths that fork and meet again and again.

The usual scripts have some dozen nodes. An engine that recurses, that is slow in the number of paths, or that loses the last of a
thousand contributions to one gradient is right in all of them. Here ops are few and cheap; each part of a graph has one form, and as
many nodes as the script has room for. Values are small whatever the length, and in the exact lane they and their gradients are exact:
a chain is scaled up and down by one power of two, signs are dealt out such that a sum of thousands is its value in the end (`_signs`),
and the recurrence ``x'' = x' - x`` is back where it was after six steps.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from conformance.case.steps import Backward, Grad, Hook, RetainGrad
from conformance.generate.sketch import Sketch
from conformance.ops.sampler import Draft

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from conformance.case.case import Case
    from conformance.generate.odds import Odds
    from conformance.generate.profiles.odds import DeepOdds
    from conformance.ops.sampler import Source

    Part = Callable[["_Tall", Draft, int], Draft]
    """Grows so many steps, about, on a value, and returns one of the same shape."""

SHIFT = 1.0


class _Tall(Sketch):
    """A sketch of a tall graph: its leaves, where its parts end, and the members of a fan that are to be roots.

    It does not note what each value depends on: a set for each of thousands would be quadratic.
    """

    def __init__(self, source: Source, odds: Odds, deep: DeepOdds, *, exact: bool, dtype: str) -> None:
        super().__init__(source, odds, exact=exact, dtype=dtype)
        self.deep = deep
        self.leaves: list[Draft] = []
        self.ends: list[Draft] = []
        self.loose: list[Draft] = []

    def enter(self, results: Iterable[Draft], operands: Iterable[Draft], *, no_grad: bool) -> None:
        """Enter the results of a step."""
        tracked = not no_grad and any(d.tracked for d in operands)
        self.values.extend(replace(d, tracked=tracked) for d in results)

    def made(self, op: str, *operands: Draft, **attrs: object) -> Draft:
        """Apply an op whose result is of moderate size, see above."""
        fitted = self.on(op, *operands, **attrs)
        assert fitted, f"step {len(self.steps)}: the result of {op} is not of moderate size"  # noqa: S101 - or a case would lack its end
        return self.values[-1]


def draw_deep(source: Source, odds: Odds, deep: DeepOdds, *, exact: bool, dtype: str) -> Case:
    """Draw a script over a graph of hundreds to thousands of nodes."""
    odds = replace(odds, sketch=replace(odds.sketch, most_elements=deep.most_elements))
    s = _Tall(source, odds, deep, exact=exact, dtype=dtype)
    shape = tuple(source.choice(deep.lengths) for _ in range(source.choice(deep.ranks)))
    s.leaves = [s.fresh(shape, differentiable=True), s.fresh(shape, differentiable=not source.chance(deep.constant))]
    steps, parts = source.choice(deep.steps), source.integer(*deep.parts)
    at = s.leaves[0]
    for _ in range(parts):
        start = s.leaves[0] if source.chance(deep.from_leaf) else at
        at = PARTS[source.choice(deep.part)](s, start, steps // parts)
        s.ends.append(at)
    _attach(s)
    for _ in range(source.integer(*deep.episodes)):
        _differentiate(s)
    return s.case()


def _signs(s: _Tall, count: int) -> Iterator[bool]:
    """Deal out an odd number of signs (whether it is minus) by chance, such that plus is ahead by one in the end."""
    ahead, most = 0, s.deep.balance
    for left in range(count | 1, 0, -1):
        if abs(1 - ahead) >= left:
            minus = ahead > 1
        elif abs(ahead) >= most:
            minus = ahead > 0
        else:
            minus = s.source.chance(s.deep.minus)
        ahead += -1 if minus else 1
        yield minus


@dataclass(slots=True)
class _Chain:
    """A chain so far: its last value, by what it was shifted (as it has been scaled and turned over since), and scaled."""

    at: Draft
    shift: float = 0.0
    scale: float = 1.0


def _chain(s: _Tall, x: Draft, count: int) -> Draft:
    """Grow one path: turned over, scaled, shifted and moved."""
    chain, until = _Chain(x), len(s.steps) + count
    while len(s.steps) < until:
        if not s.exact and s.source.chance(s.deep.curved):
            chain.at = s.made("sinh", s.made("asinh", chain.at))
        else:
            LINKS[s.source.choice(s.deep.links)](s, chain, x.shape)
    if chain.shift:
        _shift(s, chain, x.shape)
    if chain.scale != 1.0:
        chain.at = s.made("mul_scalar", chain.at, other=1.0 / chain.scale)
    return chain.at if chain.at.shape == x.shape else s.made("reshape", chain.at, shape=list(x.shape))


def _neg(s: _Tall, chain: _Chain, _: tuple[int, ...]) -> None:
    chain.at, chain.shift = s.made("neg", chain.at), -chain.shift


def _clone(s: _Tall, chain: _Chain, _: tuple[int, ...]) -> None:
    chain.at = s.made("clone", chain.at)


def _shift(s: _Tall, chain: _Chain, _: tuple[int, ...]) -> None:
    """Shift, or take a shift back."""
    other = -chain.shift or SHIFT
    chain.at, chain.shift = s.made("add_scalar", chain.at, other=other), 0.0 if chain.shift else other


def _scale(s: _Tall, chain: _Chain, _: tuple[int, ...]) -> None:
    """Scale by two or by a half; whatever was scaled is scaled back first."""
    other = 1.0 / chain.scale if chain.scale != 1.0 else 2.0 if s.source.chance(s.deep.up) else 0.5
    chain.at, chain.shift, chain.scale = s.made("mul_scalar", chain.at, other=other), chain.shift * other, chain.scale * other


def _flip(s: _Tall, chain: _Chain, _: tuple[int, ...]) -> None:
    if chain.at.shape:
        chain.at = s.made("flip", chain.at, axis=0)


def _roll(s: _Tall, chain: _Chain, _: tuple[int, ...]) -> None:
    if chain.at.shape:
        chain.at = s.made("roll", chain.at, shift=1, axis=len(chain.at.shape) - 1)


def _transpose(s: _Tall, chain: _Chain, _: tuple[int, ...]) -> None:
    if len(chain.at.shape) > 1:
        chain.at = s.made("transpose", chain.at, axis0=0, axis1=1)


def _reshape(s: _Tall, chain: _Chain, shape: tuple[int, ...]) -> None:
    """Lay out in a row (a row in a column), or as it was."""
    row = [math.prod(shape)] if len(shape) != 1 else [*shape, 1]
    chain.at = s.made("reshape", chain.at, shape=row if chain.at.shape == shape else list(shape))


LINKS: dict[str, Callable[[_Tall, _Chain, tuple[int, ...]], None]] = {
    "neg": _neg,
    "clone": _clone,
    "shift": _shift,
    "scale": _scale,
    "flip": _flip,
    "roll": _roll,
    "transpose": _transpose,
    "reshape": _reshape,
}


def _fan(s: _Tall, x: Draft, count: int) -> Draft:
    """One value that many use, as it is and turned over, and the sum of what they make of it."""
    join = s.source.choice(s.deep.join)
    each = 1 if join in ("stack", "cat") else 2  # with the sum
    members = [_member(s, x, minus=minus) for minus in _signs(s, count // each)]
    if s.source.chance(s.deep.unjoined):
        s.loose = list({d.name: d for d in members}.values())
    return JOINS[join](s, members)


def _member(s: _Tall, x: Draft, *, minus: bool) -> Draft:
    if minus:
        return s.made("neg", x)
    return x if s.source.chance(s.deep.themselves) else s.made("clone", x)


def _added(s: _Tall, members: Sequence[Draft]) -> Draft:
    total = members[0]
    for member in members[1:]:
        total = s.made("add", total, member)
    return total


def _halved(s: _Tall, members: Sequence[Draft]) -> Draft:
    """Add by pairs, and these by pairs, and so on."""
    while len(members) > 1:
        pairs = [s.made("add", one, other) for one, other in zip(members[::2], members[1::2], strict=False)]
        members = [*pairs, *members[2 * len(pairs) :]]
    return members[0]


def _stacked(s: _Tall, members: Sequence[Draft]) -> Draft:
    return s.made("sum", s.made("stack", *members, axis=0), axis=[0], keepdims=False)


def _concatenated(s: _Tall, members: Sequence[Draft]) -> Draft:
    shape = members[0].shape
    if not shape:
        return _stacked(s, members)
    joined = s.made("cat", *members, axis=0)
    return s.made("sum", s.made("reshape", joined, shape=[len(members), *shape]), axis=[0], keepdims=False)


JOINS: dict[str, Callable[[_Tall, Sequence[Draft]], Draft]] = {
    "add": _added,
    "halves": _halved,
    "stack": _stacked,
    "cat": _concatenated,
}


def _comb(s: _Tall, x: Draft, count: int) -> Draft:
    """Add a leaf to a sum, or subtract it, again and again."""
    for minus in _signs(s, count):
        x = s.made("sub" if minus else "add", x, s.leaves[1])
    return x


def _recurrence(s: _Tall, x: Draft, count: int) -> Draft:
    """Each member is the difference of the two before it."""
    before = s.leaves[1]
    for _ in range(count):
        before, x = x, s.made("sub", x, before)
    return x


def _diamonds(s: _Tall, x: Draft, count: int) -> Draft:
    """Fork, meet, and fork again; the value is the same after each."""
    form, until = s.source.choice(s.deep.diamond), len(s.steps) + count
    while len(s.steps) < until:
        if form == "parts" and x.shape:
            s.made("unbind", x, axis=0)
            x = s.made("stack", *s.values[-x.shape[0] :], axis=0)
        elif form == "twice":
            x = s.made("add", s.made("mul_scalar", x, other=2.0), s.made("neg", x))
        else:
            x = s.made("add", s.made("mul_scalar", x, other=0.5), s.made("mul_scalar", x, other=0.5))
    return x


PARTS: dict[str, Part] = {"chain": _chain, "fan": _fan, "comb": _comb, "recurrence": _recurrence, "diamonds": _diamonds}


def _attach(s: _Tall) -> None:
    """Attach hooks, and have gradients kept, somewhere."""
    tracked = [d for d in s.values if d.tracked]
    for _ in range(s.source.integer(*s.deep.hooks)):
        subject, name = s.source.choice(tracked), s.name("h")
        if s.source.chance(s.deep.scaled):
            s.steps.append(Hook(subject.name, (name,), "scaled", factor=-1.0))
        else:
            s.steps.append(Hook(subject.name, (name,), "nothing"))
    for _ in range(s.source.integer(*s.deep.retained)):
        s.steps.append(RetainGrad(s.source.choice(tracked).name))


def _differentiate(s: _Tall) -> None:
    """Differentiate, perhaps with the derivative, and perhaps again."""
    roots, deep = _roots(s), s.deep
    if len(roots) == 1 and len(s.steps) <= deep.second_within and s.source.chance(deep.second_order):
        (gradient,) = _grad(s, roots, [s.leaves[0]], create_graph=True, retain=None)
        roots = [s.made("mul", gradient, s.source.choice([gradient, *s.leaves]))]
    seeds = _seeds(s, roots)
    retain = True if s.source.chance(deep.retain) else None
    by_backward = s.source.chance(deep.by_backward)
    among = [d for d in s.values if d.tracked and d.is_computed]
    asked = [*(d for d in s.leaves if d.tracked), *(s.source.choice(among) for _ in range(s.source.integer(*deep.few)))]
    asked = list({d.name: d for d in asked}.values())
    for _ in range(2 if s.source.chance(deep.again) else 1):
        if by_backward:
            s.steps.append(Backward(tuple(d.name for d in roots), seeds, retain))
        else:
            _grad(s, roots, asked, seeds=seeds, create_graph=False, retain=retain)


def _roots(s: _Tall) -> list[Draft]:
    """Choose a root, or the members of a fan."""
    if s.loose and s.source.chance(s.deep.unjoined):
        return s.loose
    root = s.ends[-1] if s.source.chance(s.deep.last) else s.source.choice(s.ends)
    if s.source.chance(s.deep.product):
        root = s.made("mul", root, s.source.choice([*s.leaves, root]))
    if s.source.chance(s.deep.summed):
        root = s.made("sum", root, axis=None, keepdims=False)
    return [root]


def _seeds(s: _Tall, roots: Sequence[Draft]) -> tuple[str, ...] | None:
    """Draw a seed, which all roots share; none where the only root has no axes."""
    if len(roots) == 1 and not roots[0].shape:
        return None
    seed = s.fresh(roots[0].shape, origin="seed", differentiable=False)
    return (seed.name,) * len(roots)


def _grad(
    s: _Tall,
    roots: Sequence[Draft],
    asked: Sequence[Draft],
    *,
    create_graph: bool,
    retain: bool | None,
    seeds: tuple[str, ...] | None = None,
) -> list[Draft]:
    seeds = seeds or _seeds(s, roots)
    names = tuple(s.name("g") for _ in asked)
    inputs = tuple(d.name for d in asked)
    s.steps.append(Grad(tuple(d.name for d in roots), inputs, names, seeds, retain, create_graph, allow_unused=True))
    made = [Draft(n, d.shape, d.dtype, None, create_graph, frozenset(), "gradient") for n, d in zip(names, asked, strict=True)]
    s.values.extend(made)
    return made
