"""When a call of autograd, or what a user attaches to tensors, has its fault."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from conformance.case.queries import upstream
from conformance.case.steps import Backward, Detach, InPlace, Op, results
from conformance.mutants.conditional.conditions_of_ops import TURNS
from conformance.ops import catalogue
from conformance.ops.dtypes import is_complex

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from conformance.mutants.conditional.moment import Moment, Seen


def _seeds(test: Callable[[Seen], bool]) -> Callable[[Moment], bool]:
    return lambda at: any(map(test, at.seeds))


def _seeds_made_by(*ops: str) -> Callable[[Moment], bool]:
    return _seeds(lambda seed: seed.made[:1] != () and seed.made[0] in ops)


def _roots(test: Callable[[Seen], bool]) -> Callable[[Moment], bool]:
    return lambda at: any(map(test, at.roots))


def _asked(test: Callable[[Seen], bool]) -> Callable[[Moment], bool]:
    return lambda at: any(map(test, at.asked))


def _with_gradient(at: Moment) -> list[Seen]:
    """Return the inputs that a pass reaches and that have a gradient already."""
    return [x for x in at.reached if at.engine.grad_of(x.tensor) is not None]


def _above(at: Moment, name: str) -> frozenset[str]:
    """Return what a value was made of by the time of a call, itself included."""
    return frozenset(upstream(at.script.case.steps[: at.number], name))


def _one_above_another(at: Moment, values: list[Seen]) -> bool:
    return any(one.name != other.name and one.name in _above(at, other.name) for one, other in product(values, repeat=2))


def _made_with(test: Callable[[str], bool]) -> Callable[[Moment], bool]:
    def holds(at: Moment) -> bool:
        made = (at.script.sources.get(name) for root in at.step.roots for name in _above(at, root))
        return any(isinstance(step, Op) and test(step.op) for step in made)

    return holds


def _several_results(x: Seen) -> bool:
    return isinstance(x.source, Op) and catalogue()[x.source.op].multi_output


def _others(x: Seen) -> list[str]:
    """Return the names of what the op made beside a value."""
    return [name for name in results(x.source) if name != x.name] if isinstance(x.source, Op) else []


def _is_written(at: Moment, name: str) -> bool:
    return any(isinstance(step, InPlace) and step.tensor == name for step in at.script.case.steps[: at.number])


def _is_inside(at: Moment, x: Seen) -> bool:
    """Whether some op has a value between its first operand and its last."""
    return any(isinstance(step, Op) and x.name in step.operands[1:-1] for step in at.script.case.steps[: at.number])


def _leaf(x: Seen) -> bool:
    return x.source is None and x.name != ""


def _seeded(at: Moment) -> list[tuple[Seen, Seen]]:
    """Return the roots that are given a seed, each with it, where no root is an edge."""
    given = at.step.seeds or ()
    if not at.script.edges.isdisjoint(at.step.roots) or len(given) != len(at.roots):
        return []
    seeds = {seed.name: seed for seed in at.seeds}
    return [(root, seeds[name]) for root, name in zip(at.roots, given, strict=True) if name is not None]


def _tensor(test: Callable[[Seen], bool]) -> Callable[[Moment], bool]:
    return lambda at: test(at.operands[0])


OF_CALLS: Mapping[str, Callable[[Moment], bool]] = {
    # Orders and graphs.
    "create_graph": lambda at: bool(at.step.create_graph),
    "a second derivative": lambda at: at.order == 2,
    "a third derivative": lambda at: at.order == 3,
    "retain_graph": lambda at: bool(at.step.retain_graph),
    "retain_graph=False": lambda at: at.step.retain_graph is False,
    "retain_graph unset": lambda at: at.step.retain_graph is None,
    "a flag that is a number": lambda at: type(at.step.retain_graph) is int,
    "the second pass over a graph": lambda at: at.past.passes[at.step.roots] == 1,
    "the third pass over a graph": lambda at: at.past.passes[at.step.roots] == 2,
    "inside no_grad": lambda at: bool(at.step.no_grad),
    # Accumulation.
    "a gradient that is there": lambda at: bool(_with_gradient(at)),
    "a gradient that is there, of a transposed leaf": lambda at: any(x.made and x.made[0] in TURNS for x in _with_gradient(at)),
    "a gradient that is there, in float64": lambda at: any(x.dtype == "float64" for x in _with_gradient(at)),
    "a gradient that is there, of a number": lambda at: any(x.shape == () for x in _with_gradient(at)),
    "a gradient of zeros that is there": lambda at: any(
        not at.engine.look(at.engine.grad_of(x.tensor)).array.any() for x in _with_gradient(at) if x.size
    ),
    "a gradient with history that is there": lambda at: any(
        at.engine.look(at.engine.grad_of(x.tensor)).requires_grad for x in _with_gradient(at)
    ),
    "a complex gradient that is there": lambda at: any(is_complex(x.dtype) for x in _with_gradient(at)),
    # Roots.
    "two roots": lambda at: len(at.step.roots) == 2,
    "three roots": lambda at: len(at.step.roots) >= 3,
    "one root twice": lambda at: len(set(at.step.roots)) < len(at.step.roots),
    "one root above another": lambda at: _one_above_another(at, at.roots),
    "a product above a root": _made_with(lambda op: op == "matmul"),
    "an op that rounds above a root": _made_with(lambda op: not catalogue()[op].exact),
    "an exponential above a root": _made_with(lambda op: op == "exp"),
    "a root that is an input": _roots(_leaf),
    "a root of several results": _roots(_several_results),
    "a root of more than 256 elements": _roots(lambda x: x.size > 256),
    "a root that is a number": _roots(lambda x: x.shape == ()),
    "a root without elements": _roots(lambda x: x.size == 0),
    "a complex root": _roots(lambda x: is_complex(x.dtype)),
    "a root in float64": _roots(lambda x: x.dtype == "float64"),
    "a root beside a result that was written": lambda at: any(_is_written(at, n) for root in at.roots for n in _others(root)),
    "a root that was used further": lambda at: any(at.script.users(x.name, at.number) for x in at.roots),
    # Seeds.
    "no seeds": lambda at: at.step.seeds is None,
    "a seed left to the engine": lambda at: at.step.seeds is not None and None in at.step.seeds,
    "a transposed seed": _seeds_made_by(*TURNS),
    "a strided seed": _seeds_made_by("getitem_strided"),
    "an expanded seed": _seeds_made_by("expand"),
    "a reversed seed": _seeds_made_by("getitem_reversed"),
    "a seed in float64": _seeds(lambda seed: seed.dtype == "float64"),
    "a complex seed": _seeds(lambda seed: is_complex(seed.dtype)),
    "a seed of more than 8 elements": _seeds(lambda seed: seed.size > 8),
    "a seed with a last block that is not full": _seeds(lambda seed: seed.size > 8 and seed.size % 8 > 0),
    "a seed of three axes": _seeds(lambda seed: len(seed.shape) == 3),
    "a differentiable seed": _seeds(lambda seed: seed.flows),
    "a computed seed": _seeds(lambda seed: isinstance(seed.source, Op) and not seed.made),
    "a seed that is a derivative": _seeds(lambda seed: seed.order > 0),
    "a seed of zeros": _seeds(lambda seed: seed.size > 0 and not seed.value.array.any()),
    "a seed of another shape": lambda at: any(seed.shape != root.shape for root, seed in _seeded(at)),
    "too few seeds": lambda at: at.step.seeds is not None and len(at.step.seeds) < len(at.step.roots),
    "a seed with NaN": _seeds(lambda seed: bool(np.isnan(seed.value.array).any())),
    "an infinite seed": _seeds(lambda seed: bool(np.isinf(seed.value.array).any())),
    "a seed that is its root": lambda at: any(one == other for one, other in zip(at.step.roots, at.step.seeds or (), strict=False)),
    "one seed for two roots": lambda at: len({x.name for x in at.seeds}) < len(at.seeds),
    "a seed that is asked for": lambda at: bool({x.name for x in at.seeds} & {x.name for x in at.asked}),
    # What is asked for.
    "inputs given": lambda at: isinstance(at.step, Backward) and at.step.inputs is not None,
    "several inputs given": lambda at: isinstance(at.step, Backward) and len(at.step.inputs or ()) > 1,
    "several asked for": lambda at: len(at.asked) > 1,
    "the middle operand of an op alone asked for": lambda at: len({x.name for x in at.asked}) == 1 and _is_inside(at, at.asked[0]),
    "three asked for": lambda at: len(at.asked) >= 3,
    "one asked for above another": lambda at: _one_above_another(at, at.asked),
    "a computed tensor asked for": _asked(lambda x: isinstance(x.source, Op) and not x.made),
    "a derivative asked for": _asked(lambda x: x.order > 0),
    "a root asked for": lambda at: not set(at.step.roots).isdisjoint(at.step.asked or ()),
    "a result of several asked for": _asked(_several_results),
    "one asked for twice": lambda at: at.step.asked is not None and len({*at.step.asked}) < len(at.step.asked),
    "an edge asked for": lambda at: not at.script.edges.isdisjoint(at.step.asked or ()),
    "a number asked for": _asked(lambda x: x.shape == ()),
    "an empty tensor asked for": _asked(lambda x: x.size == 0),
    "a transposed tensor asked for": _asked(lambda x: x.made[:1] != () and x.made[0] in TURNS),
    "a complex tensor asked for": _asked(lambda x: is_complex(x.dtype)),
    "an unused tensor asked for": lambda at: any(not at.reaches(x.name) for x in at.asked),
    "no_grad_vars": lambda at: bool(at.step.constants),
    "several no_grad_vars": lambda at: len(at.step.constants or ()) > 1,
    "materialize_grads": lambda at: at.step.materialize_grads,
    "a batch of seeds": lambda at: at.step.is_grads_batched,
    "a tuple or one alone": lambda at: at.step.form in ("tuple", "bare"),
    # The past.
    "the second call of a script": lambda at: at.past.asked["grad"] + at.past.asked["backward"] == 1,
    "the fourth call of a process": lambda at: at.process.asked["grad"] + at.process.asked["backward"] == 3,
    "every seventh call of a process": lambda at: at.process.asked["grad"] % 7 == 6,
    "a refusal before it": lambda at: at.past.refused > 0,
    "a hook before it": lambda at: at.past.asked["hook"] > 0,
    "a removed hook before it": lambda at: at.past.asked["remove_hook"] > 0,
    "a write before it": lambda at: at.past.asked["in_place"] > 0,
    "a custom function before it": lambda at: at.past.asked["custom"] > 0,
    "a detached tensor before it": lambda at: at.past.asked["detach"] > 0,
    "a changed flag before it": lambda at: at.past.asked["toggle"] > 0 and bool(at.reached),
    "a retained gradient before it": lambda at: at.past.asked["retain_grad"] > 0,
    "a gradient returned before it": lambda at: any(g is not None and not at.engine.look(g).requires_grad for g in at.past.found),
    "a cleared gradient before it": lambda at: at.past.asked["clear_grad"] > 0,
    "a region of no_grad before it": lambda at: at.past.asked["no_grad"] > 0,
    "a derivative with a graph before it": lambda at: at.past.graphs > 0,
}
"""Conditions of calls, by their words."""

OF_TENSORS: Mapping[str, Callable[[Moment], bool]] = {
    "every time": lambda _: True,
    "the second time in a script": lambda at: at.past.asked[at.part] == 1,
    "an input": _tensor(_leaf),
    "a computed tensor": _tensor(lambda x: isinstance(x.source, Op) and not x.made),
    "a detached tensor": _tensor(lambda x: isinstance(x.source, Detach)),
    "a view": _tensor(lambda x: bool(x.made)),
    "a derivative": _tensor(lambda x: x.order > 0),
    "one of several results": _tensor(_several_results),
    "more than 8 elements": _tensor(lambda x: x.size > 8),
    "a number": _tensor(lambda x: x.shape == ()),
    "float64": _tensor(lambda x: x.dtype == "float64"),
    "a constant": _tensor(lambda x: not x.flows),
    "two operands": lambda at: len(at.operands) > 1,
    "a constant beside it": lambda at: len({x.flows for x in at.operands}) > 1,
    "one tensor as two operands": lambda at: len({id(x.tensor) for x in at.operands}) < len(at.operands),
    "a pass before it": lambda at: at.past.asked["grad"] + at.past.asked["backward"] > 0,
    "a tensor that several ops take": lambda at: at.script.users(at.names[0]) > 1,
    "several hooks before it": lambda at: len(at.past.handles) > 1,
    "an op inside no_grad": lambda at: bool(at.step is not None and at.step.no_grad),
    "a gradient that is there": lambda at: at.engine.grad_of(at.given[0]) is not None,
}
"""Conditions of what is attached to tensors or changes them, by their words."""
