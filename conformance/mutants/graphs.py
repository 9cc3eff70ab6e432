"""Faults of a graph's life: what is kept and freed, what a derivative is linked to, flags, and the state after a refusal."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

import reference_impl
from conformance.backends.reference import ReferenceEngine
from conformance.mutants.mutant import Kind, Mutant, patch
from conformance.mutants.wrong_rule import rule_fault
from reference_impl import OPS, PADDLE, TORCH, AutogradError, Category, Tensor
from reference_impl.reverse import arguments, contract, engine, walk
from reference_impl.reverse.plan import newest_first, reachable
from reference_impl.reverse.walk import ReversePass
from reference_impl.tape.primitive import Primitive, array_of
from reference_impl.tape.storage import output_of
from reference_impl.tape.tensor import Mode

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from conformance.mutants.mutant import Fault

_init, _run, _total = ReversePass.__init__, ReversePass.run, walk._total
_pull_recorded, _newest_first = ReversePass._pull_recorded, newest_first
_retain_of, _seeded_roots = arguments.retain_of, contract.seeded_roots
_accumulate, _gradients, _output_of = engine._accumulate, engine._gradients, output_of
_backward, _grad = ReferenceEngine.backward, ReferenceEngine.grad
_call = Primitive.__call__


def _with(**options: bool) -> Any:
    """Make a walk that is prepared with other flags than it is asked for."""

    def prepared(self: ReversePass, *given: Any, **asked: Any) -> None:
        _init(self, *given, **{**asked, **options})

    return prepared


def _retains_if_not_told(given: Any, create_graph: bool, dialect: Any, *, optional: bool) -> bool:
    return _retain_of(given, create_graph, dialect, optional=optional) or given in (None, arguments.Default.OF_THE_DIALECT)


def _frees_if_not_told(given: Any, create_graph: bool, dialect: Any, *, optional: bool) -> bool:
    return _retain_of(given, False, dialect, optional=optional)


def _frees_all_reached(self: ReversePass) -> None:
    _run(self)
    if not self.retain_graph:
        for node in reachable(self.roots, self.cut):
            node.released = True


def _frees_on_refusal(self: ReversePass) -> None:
    try:
        _run(self)
    except AutogradError:
        for node in reachable(self.roots, self.cut):
            node.released = True
        raise


def _family_lives_on(self: ReversePass, node: Any) -> bool:
    return bool(node.released)


def _constants(*given: Any) -> Any:
    return [None if g is None else Tensor(g.array, requires_grad=g.requires_grad and g.node is None) for g in _gradients(*given)]


def _sum_is_constant(before: Any, cotangent: Any) -> Any:
    total = _total(before, cotangent)
    return total if before is None or cotangent is None or type(total) is not Tensor else Tensor(total.array)


def _seeds_are_constants(tensors: Any, seeds: Any, dialect: Any) -> Any:
    return [(root, seed.detach()) for root, seed in _seeded_roots(tensors, seeds, dialect)]


def _outputs_are_constants(node: Any) -> Any:
    made = _output_of(node)
    return tuple(Tensor(o.array) for o in made) if isinstance(made, tuple) else Tensor(made.array)


def _operands_are_constants(self: ReversePass, node: Any, slots: Any, asked: Any, derivative_of: Any) -> Any:
    operands = node.operands
    node.operands = tuple(Tensor(array_of(o)) if type(o) is Tensor and o.node is None else o for o in operands)
    try:
        return _pull_recorded(self, node, slots, asked, derivative_of)
    finally:
        node.operands = operands


def _cotangents_are_constants(self: ReversePass, node: Any, slots: Any, asked: Any, derivative_of: Any) -> Any:
    cut = [Tensor(s.array) if type(s) is Tensor else s for s in slots]
    return _pull_recorded(self, node, cut, asked, derivative_of)


def _accumulated_is_constant(tensor: Tensor, cotangent: Any, *, dialect: Any, create_graph: bool) -> None:
    _accumulate(tensor, array_of(cotangent) if create_graph else cotangent, dialect=dialect, create_graph=False)


def _first_grad_forgotten(tensor: Tensor, cotangent: Any, *, dialect: Any, create_graph: bool) -> None:
    if create_graph and tensor.grad is not None:
        tensor.grad = tensor.grad.detach()
    _accumulate(tensor, cotangent, dialect=dialect, create_graph=create_graph)


def _as_the_caller_records(self: ReversePass, *given: Any, create_graph: bool, **asked: Any) -> None:
    _init(self, *given, create_graph=create_graph and Mode.recording, **asked)


def _no_region(_: ReferenceEngine) -> AbstractContextManager[None]:
    return nullcontext()


def _any_constant(self: Primitive, *operands: Any, **attrs: Any) -> Any:
    """Let a result require a gradient only if all of its operands do."""
    tensors = [o for o in operands if type(o) is Tensor]
    if Mode.derivative_of is None and tensors and not all(o.requires_grad for o in tensors):
        with reference_impl.no_grad():
            return _call(self, *operands, **attrs)
    return _call(self, *operands, **attrs)


def _flagged(*given: Any) -> Any:
    return [None if g is None else Tensor(g.array, requires_grad=True, node=g.node, slot=g.slot) for g in _gradients(*given)]


def _kept_flag(self: ReferenceEngine, tensor: Tensor) -> Tensor:
    return Tensor(tensor.array, requires_grad=tensor.requires_grad)


def _kept_history(self: ReferenceEngine, tensor: Tensor) -> Tensor:
    return Tensor(tensor.array, requires_grad=tensor.requires_grad, node=tensor.node, slot=tensor.slot)


def _leaves_last(nodes: Any, asked: Any, roots: Any) -> list[Any]:
    order = _newest_first(nodes, asked, roots)
    return [s for s in order if type(s) is not Tensor] + [s for s in order if type(s) is Tensor]


def _visited_as_found(nodes: Any, asked: Any, roots: Any) -> list[Any]:
    """Run a node as soon as one of its consumers ran, without waiting for the others."""
    roots = list(roots)
    order = _newest_first(nodes, asked, roots)
    found = dict.fromkeys(root.node for root in roots if root.node in set(nodes))
    queue = list(found)
    for node in queue:
        below = [node.operands[position].node for position in asked.get(node, ())]
        fresh = dict.fromkeys(n for n in below if n is not None and n not in found)
        found.update(fresh)
        queue.extend(fresh)
    return [s for s in order if type(s) is Tensor and s in roots] + queue + [s for s in order if type(s) is Tensor]


def _all_or_nothing(self: ReversePass) -> None:
    held: list[tuple[Tensor, Any]] = []
    accumulate, self.accumulate = self.accumulate, lambda tensor, cotangent: held.append((tensor, cotangent))
    _run(self)
    for tensor, cotangent in held:
        accumulate(tensor, cotangent)


def _stays_off(self: ReversePass) -> None:
    try:
        _run(self)
    except Exception:
        Mode.recording = False
        raise


def _another_category(reached: Any) -> None:
    if not all(reached):
        raise AutogradError(Category.GRAPH_FREED, "an input does not affect the outputs")


def _returning(self: ReferenceEngine, *given: Any) -> str:
    _backward(self, *given)
    return "done"


def _writes_seed(self: ReferenceEngine, step: Any, values: Any) -> Any:
    found = _grad(self, step, values)
    for name in step.grad_outputs or ():
        if name is not None and values[name].array.flags.writeable:
            values[name].array[...] = np.abs(values[name].array)
    return found


def _engine(name: str, part: str, what: str, fault: Fault, dialect: Any = TORCH, *, breaks: bool = False) -> Mutant:
    return Mutant(name, Kind.ENGINE, part, what, fault, dialect, breaks=breaks)


def _walk(name: str, replacement: Any) -> Fault:
    return patch((ReversePass, name, replacement))


def _negated(right: Any, *given: Any) -> Any:
    return OPS["neg"](right(*given))


MUTANTS = (
    _engine("freed_graph_unnoticed", "freeing", "a freed graph never refuses", _walk("_freed", lambda *_: False)),
    _engine("always_frees", "freeing", "retain_graph does nothing: every pass frees", _walk("__init__", _with(retain_graph=False))),
    _engine(
        "retains_if_not_told", "freeing", "the default of retain_graph is True", patch((arguments, "retain_of", _retains_if_not_told))
    ),
    _engine(
        "create_graph_frees",
        "freeing",
        "create_graph alone does not keep the graph",
        patch((arguments, "retain_of", _frees_if_not_told)),
    ),
    _engine("frees_all_reached", "freeing", "a pass frees nodes that it did not run, too", _walk("run", _frees_all_reached)),
    _engine("frees_on_refusal", "freeing", "a call that is refused frees the graph", _walk("run", _frees_on_refusal)),
    _engine("family_lives_on", "freeing", "the parts of a derivative are freed one by one", _walk("_freed", _family_lives_on), PADDLE),
    _engine(
        "first_order_only", "create_graph", "create_graph does nothing", _walk("__init__", _with(create_graph=False, retain_graph=True))
    ),
    _engine("results_detached", "create_graph", "what create_graph returns has no history", patch((engine, "_gradients", _constants))),
    _engine("fan_in_detached", "create_graph", "sums of cotangents are not recorded", patch((walk, "_total", _sum_is_constant))),
    _engine("seeds_detached", "create_graph", "seeds count as constants", patch((contract, "seeded_roots", _seeds_are_constants))),
    _engine("outputs_detached", "create_graph", "saved results count as constants", patch((walk, "output_of", _outputs_are_constants))),
    _engine("leaves_detached", "create_graph", "saved leaves count as constants", _walk("_pull_recorded", _operands_are_constants)),
    _engine("cotangents_detached", "create_graph", "cotangents count as constants", _walk("_pull_recorded", _cotangents_are_constants)),
    _engine(
        "grad_detached",
        "create_graph",
        "backward(create_graph=True) leaves .grad without history",
        patch((engine, "_accumulate", _accumulated_is_constant)),
    ),
    _engine(
        "earlier_grad_detached",
        "create_graph",
        ".grad forgets its history when more is added",
        patch((engine, "_accumulate", _first_grad_forgotten)),
    ),
    _engine("no_grad_around", "create_graph", "create_graph records nothing inside no_grad", _walk("__init__", _as_the_caller_records)),
    _engine("no_grad_ignored", "flags", "ops inside no_grad are recorded", patch((ReferenceEngine, "no_grad", _no_region))),
    _engine("any_constant", "flags", "an op with one constant operand is not recorded", patch((Primitive, "__call__", _any_constant))),
    _engine("results_flagged", "flags", "what grad returns always requires a gradient", patch((engine, "_gradients", _flagged))),
    _engine("detach_keeps_flag", "flags", "a detached tensor requires a gradient", patch((ReferenceEngine, "detach", _kept_flag))),
    _engine("detach_keeps_history", "flags", "detach does nothing", patch((ReferenceEngine, "detach", _kept_history))),
    _engine("leaves_last", "order", "leaves have their turn after all nodes", patch((walk, "newest_first", _leaves_last))),
    _engine("does_not_wait", "order", "a node runs before all of its consumers did", patch((walk, "newest_first", _visited_as_found))),
    _engine("all_or_nothing", "errors", "a pass that fails leaves no gradient behind", _walk("run", _all_or_nothing)),
    _engine(
        "another_category",
        "errors",
        "an unreachable input is refused as a freed graph",
        patch((contract, "check_reached", _another_category)),
    ),
    _engine("recording_stays_off", "errors", "a pass that fails leaves recording switched off", _walk("run", _stays_off)),
    _engine(
        "breaks_after_a_refusal",
        "errors",
        "after a refusal, products are differentiated wrongly",
        rule_fault("mul", 0, _negated),
        breaks=True,
    ),
    _engine("talkative", "results", "backward returns something", patch((ReferenceEngine, "backward", _returning))),
    _engine("writes_seed", "aliasing", "grad changes the seed that it is given", patch((ReferenceEngine, "grad", _writes_seed))),
)
