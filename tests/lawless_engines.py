"""Engines that break one law each, on purpose: the reference with one fault while it runs a case (see `conformance.mutants`)."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

import reference_impl
from conformance.backends.reference import ReferenceEngine
from conformance.judge.nulls import backwards
from conformance.mutants.mutant import WrongEngine, patch
from conformance.mutants.wrong_rule import rule_fault
from reference_impl import OPS, PADDLE, PADDLE_STATIC, TORCH, Tensor

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.case.case import Case, Input
    from conformance.case.outcome import Outcome
    from conformance.case.steps import Backward, Grad, Op

_grad = reference_impl.grad
_calls = itertools.count()


def _changed_grad(name: str, change: Callable[..., Any], **options: Any) -> WrongEngine:
    return WrongEngine(name, patch((reference_impl, "grad", change)), **options)


def _negated(right: Any, *given: Any) -> Any:
    return OPS["neg"](right(*given))


def _cut(right: Any, *given: Any) -> Any:
    made = right(*given)
    return Tensor(made.array) if isinstance(made, Tensor) else made


def _scaled(found: list[Tensor | None], factor: float) -> list[Tensor | None]:
    return [g if g is None else OPS["mul_scalar"](g, other=factor) for g in found]


def squared_seeds() -> WrongEngine:
    """Open an engine whose `grad` squares its seeds."""

    def grad(outputs: Any, inputs: Any, seeds: Any, *rest: Any, **options: Any) -> Any:
        squared = seeds if seeds is None else [s if s is None else OPS["mul"](s, s) for s in seeds]
        return _grad(outputs, inputs, squared, *rest, **options)

    return _changed_grad("squared_seeds", grad)


def last_root_only() -> WrongEngine:
    """Open an engine whose `grad` walks from the last root alone."""

    def grad(outputs: Any, inputs: Any, seeds: Any, *rest: Any, **options: Any) -> Any:
        return _grad(list(outputs)[-1:], inputs, seeds if seeds is None else list(seeds)[-1:], *rest, **options)

    return _changed_grad("last_root_only", grad)


def no_grad_vars_ignored() -> WrongEngine:
    """Open an engine, of Paddle's dialect, that does not look at ``no_grad_vars``."""

    def grad(*arguments: Any, **options: Any) -> Any:
        return _grad(*arguments, **{**options, "no_grad_vars": None})

    return _changed_grad("no_grad_vars_ignored", grad, dialect=PADDLE)


def create_graph_doubles() -> WrongEngine:
    """Open an engine whose gradients are twice as large where a graph of them is wanted."""

    def grad(outputs: Any, inputs: Any, seeds: Any, retain: Any, create_graph: Any, *rest: Any, **options: Any) -> Any:
        return _scaled(_grad(outputs, inputs, seeds, retain, create_graph, *rest, **options), 2.0 if create_graph else 1.0)

    return _changed_grad("create_graph_doubles", grad)


def one_sided_mul() -> WrongEngine:
    """Open an engine in which the gradient of ``x * y`` with respect to ``x`` does not depend on ``y``; its value is right."""
    return WrongEngine("one_sided_mul", rule_fault("mul", 0, _cut))


def doubled_pushforward() -> WrongEngine:
    """Open an engine whose gradients depend on the seed twice as much as they say."""

    def grad(outputs: Any, inputs: Any, seeds: Any, retain: Any, create_graph: Any, *rest: Any, **options: Any) -> Any:
        if create_graph and seeds is not None:
            seeds = [s if s is None else OPS["sub"](OPS["add"](s, s), s.detach()) for s in seeds]
        return _grad(outputs, inputs, seeds, retain, create_graph, *rest, **options)

    return _changed_grad("doubled_pushforward", grad)


class _Counting(ReferenceEngine):
    """Scales what `grad` answers by what it saw of the script."""

    def __init__(self) -> None:
        super().__init__(reference_impl.TORCH, widen=False)
        self.names: list[str] = []

    def leaf(self, entry: Input) -> Tensor:
        self.names = []
        return super().leaf(entry)

    def apply(self, step: Op, operands: list[Tensor]) -> tuple[Tensor, ...]:
        self.names.extend(step.results)
        return super().apply(step, operands)

    def factor(self) -> float:
        raise NotImplementedError

    def grad(self, step: Grad, values: dict[str, Any]) -> list[Tensor | None]:
        return _scaled(super().grad(step, values), self.factor())


class _CountingOps(_Counting):
    def factor(self) -> float:
        return 1.0 + len(self.names)


class _FirstOp(_Counting):
    def factor(self) -> float:
        return 1.0 + sum(map(ord, self.names[0])) if self.names else 1.0


def _with_engine(name: str, adapter: ReferenceEngine) -> WrongEngine:
    wrong = WrongEngine(name)
    wrong.engine.engine = adapter  # type: ignore[attr-defined]
    return wrong


def counts_ops() -> WrongEngine:
    """Open an engine whose gradients grow with the number of ops that were applied, used or not."""
    return _with_engine("counts_ops", _CountingOps())


def looks_at_the_first_op() -> WrongEngine:
    """Open an engine whose gradients depend on which op was applied first."""
    return _with_engine("looks_at_the_first_op", _FirstOp())


def seeds_used_up() -> WrongEngine:
    """Open an engine that clears its seeds."""

    def grad(outputs: Any, inputs: Any, seeds: Any, *rest: Any, **options: Any) -> Any:
        found = _grad(outputs, inputs, seeds, *rest, **options)
        for seed in seeds or ():
            if seed is not None:
                seed.array[...] = 0.0
        return found

    return _changed_grad("seeds_used_up", grad)


def seeds_left_in_leaves() -> WrongEngine:
    """Open an engine whose `backward` adds one to every leaf."""

    def backward(adapter: ReferenceEngine, step: Backward, values: dict[str, Any], dump: str | None) -> None:
        _adapter_backward(adapter, step, values, dump)
        for value in values.values():
            if isinstance(value, Tensor) and value.node is None and value.array.dtype.kind == "f":
                np.add(value.array, 1.0, out=value.array)

    return WrongEngine("seeds_left_in_leaves", patch((ReferenceEngine, "backward", backward)))


_adapter_backward = ReferenceEngine.backward


def restless() -> WrongEngine:
    """Open an engine whose gradients are a little larger at every call."""

    def grad(*arguments: Any, **options: Any) -> Any:
        return _scaled(_grad(*arguments, **options), 1.0 + next(_calls))

    return _changed_grad("restless", grad)


class Atomic(WrongEngine):
    """Takes the terms of every sum in the opposite order each second time, as kernels with atomics take them in any."""

    turns = 0

    def run(self, case: Case) -> Outcome:
        """Run a case, in the order of this turn."""
        self.turns += 1
        outcome = self.engine.run(case)
        return backwards(case, self.engine, outcome) if self.turns % 2 else outcome


def atomic() -> WrongEngine:
    """Open an engine that takes sums in any order and says nothing of it."""
    return Atomic("atomic")


def _declared(wrong: WrongEngine) -> WrongEngine:
    wrong.info = replace(wrong.info, repeatable="rounding")
    return wrong


def declared_atomic() -> WrongEngine:
    """Open an engine that takes sums in any order, as it says."""
    return _declared(Atomic("declared_atomic"))


def declared_restless() -> WrongEngine:
    """Open an engine that says that it is repeatable as far as rounding goes, while its gradients are larger at every call."""
    return _declared(restless())


def flipped_cos() -> WrongEngine:
    """Open an engine whose rule of ``cos`` is that of ``-cos``."""
    return WrongEngine("flipped_cos", rule_fault("cos", 0, _negated))


def flipped_cos_by_backward() -> WrongEngine:
    """Open one that has the same rule and no `grad`, as small engines with a tape."""
    lacking = {**TORCH.not_offered, "step:grad": "there is backward alone", "step:hook": "there are no hooks"}
    return WrongEngine("flipped_cos_by_backward", rule_fault("cos", 0, _negated), replace(TORCH, not_offered=lacking))


def flipped_programs() -> WrongEngine:
    """Open an engine of programs whose rule of ``sin`` has the wrong sign."""
    return WrongEngine("flipped_programs", rule_fault("sin", 0, _negated), dialect=PADDLE_STATIC)
