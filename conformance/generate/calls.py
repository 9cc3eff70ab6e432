"""Drawing what an autograd call takes: roots, seeds, what is asked for, what is cut.

Eager scripts and programs draw them alike, each with its own odds (`CallOdds`). Habits of test writers hide bugs, so they are broken
here: seeds are seldom ones, gradients are asked for a subset, and now and then a call is wrong on purpose.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from conformance.ops.dtypes import OTHER_KIND, OTHER_PRECISION

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.generate.odds import CallOdds
    from conformance.generate.sketch import Sketch
    from conformance.ops.sampler import Draft


def draw_roots(s: Sketch, odds: CallOdds, usual: Sequence[Draft], others: Sequence[Draft]) -> list[Draft]:
    """Choose one root or more from the usual ones, or from the others; now and then the first is summed, as a loss is."""
    source = s.source
    pool = usual if usual and not source.chance(odds.stray_root) else others
    count = source.choice(odds.roots)
    roots = [source.choice(pool[-odds.recent_roots :] if source.chance(odds.recent_root) else pool) for _ in range(count)]
    different = list({r.name: r for r in roots}.values())
    if len(different) < len(roots) and not s.maybe(odds.repeated_root):
        roots = different
    if s.maybe(odds.summed_root) and s.on("sum", roots[0], axis=None, keepdims=False):
        roots[0] = s.values[-1]
    return roots


def draw_seeds(
    s: Sketch, odds: CallOdds, roots: Sequence[Draft], *, differentiable: bool, batch: tuple[int, ...] = ()
) -> tuple[str | None, ...] | None:
    """Draw a seed for every root: none where ones are meant, or one of the wrong number, shape or dtype now and then."""
    source = s.source
    drawn: list[Draft] = []
    single = all(math.prod(r.shape) == 1 for r in roots)
    if not batch and source.chance(odds.no_seeds_for_single if single else odds.no_seeds):
        return None
    names: list[str | None] = []
    for root in roots:
        single = math.prod(root.shape) == 1
        if not batch and ((single and s.maybe(odds.null_seed_for_single)) or source.chance(odds.null_seed)):
            names.append(None)
            continue
        shape, dtype = (*batch, *root.shape), root.dtype
        if source.chance(odds.seed_shape):
            shape = (*shape, 2) if source.chance(odds.longer_seed) else shape[1:]
        if s.maybe(odds.seed_precision):
            dtype = OTHER_PRECISION[dtype]
        if s.complex and source.chance(odds.seed_kind):
            dtype = OTHER_KIND[dtype]
        tracked = differentiable and source.chance(odds.tracked_seed)
        drawn.append(_seed(s, odds, shape, dtype, drawn, tracked=tracked))
        names.append(drawn[-1].name)
    if source.chance(odds.seed_count):
        names = names[:-1] if len(names) > 1 else [*names, names[0]]
    return tuple(names)


def _seed(s: Sketch, odds: CallOdds, shape: tuple[int, ...], dtype: str, drawn: Sequence[Draft], *, tracked: bool) -> Draft:
    """Draw a seed of a shape and dtype: that of a root before, a value that exists, or a fresh one, perhaps with a history."""
    source = s.source

    def fitting(drafts: Sequence[Draft]) -> list[Draft]:
        return [d for d in drafts if d.shape == shape and d.dtype == dtype]

    shared = fitting(drawn)
    if shared and source.chance(odds.shared_seed):
        return source.choice(shared)
    if source.chance(odds.existing_seed) and (existing := fitting(s.values)):
        gradients = [d for d in existing if d.origin == "gradient"]
        return source.choice(gradients if gradients and source.chance(odds.gradient_seed) else existing)
    seed = s.fresh(shape, origin="seed", dtype=dtype, differentiable=tracked)
    if source.chance(odds.computed_seed) and s.on("mul", seed, source.choice(fitting(s.values))):
        return s.values[-1]
    return seed


def above(s: Sketch, roots: Sequence[Draft], seeds: Sequence[str | None] | None) -> frozenset[str]:
    """Return what the gradients of a call depend on, where it creates a graph."""
    named = set(seeds or ())
    return frozenset().union(*(r.above for r in roots), *(d.above for d in s.values if d.name in named))


def draw_targets(s: Sketch, odds: CallOdds, roots: Sequence[Draft]) -> list[Draft]:
    """Choose what to differentiate with respect to: mostly a subset of what the roots depend on."""
    source = s.source
    reached = frozenset().union(*(r.above for r in roots))
    reachable = [d for d in s.values if d.name in reached]
    leaves = [d for d in reachable if d.is_leaf]
    pool = leaves if leaves and source.chance(odds.leaves) else reachable
    if not source.chance(odds.roots_too):
        names = {r.name for r in roots}
        pool = [d for d in pool if d.name not in names or (d.is_input and s.maybe(odds.root_that_is_input))] or pool
    if not pool or source.chance(odds.unreachable):
        pool = [d for d in s.values if d.tracked or s.maybe(odds.untracked)] or s.values
    many = s.maybe(odds.many)
    targets = pool[: odds.many_are] if many else [source.choice(pool) for _ in range(source.integer(*odds.few))]
    return targets if source.chance(odds.asked_twice) else list({d.name: d for d in targets}.values())


def draw_cut(s: Sketch, odds: CallOdds) -> tuple[str, ...] | None:
    """Choose values that the call shall treat as constants; mostly none."""
    if not s.source.chance(odds.cut):
        return None
    return tuple({s.source.choice(s.values).name: None for _ in range(s.source.integer(*odds.cuts))})


def build_on_derivatives(s: Sketch, vocabulary: Sequence[str]) -> None:
    """Add ops after a call: products above all, since they make what depends on derivatives and on values."""
    for _ in range(s.source.integer(*s.odds.scripts.ops_on_derivatives)):
        s.add_op(s.source.choice([*vocabulary, "mul", "mul"]))
