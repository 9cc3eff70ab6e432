"""Faults of the static transformation: `append_backward` and `gradients`."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

import reference_impl
from conformance.backends.reference.programs import ReferencePrograms
from conformance.mutants.mutant import Kind, Mutant, patch
from reference_impl import PADDLE_STATIC
from reference_impl.static.transform import _Backward
from reference_impl.tape.choices import BY_FORMULA, Connections

if TYPE_CHECKING:
    from conformance.mutants.mutant import Fault

_init, _write, _named, _gradient = _Backward.__init__, _Backward.write, _Backward._named, _Backward.gradient
_gradients, _append_backward = reference_impl.gradients, reference_impl.append_backward


def _fan_in_once(self: _Backward, variable: Any, contribution: Any) -> Any:
    self.arrived[variable] = [self._named(variable, contribution)]
    return self.arrived[variable][0]


def _first_two(self: _Backward, variable: Any) -> Any:
    if variable in self.arrived:
        self.arrived[variable] = self.arrived[variable][:2]
    return _gradient(self, variable)


def _nothing_ignored(self: _Backward, program: Any, wanted: Any, no_grad_set: Any, *rest: Any) -> None:
    _init(self, program, wanted, (), *rest)


def _only_inputs_ignored(self: _Backward, program: Any, wanted: Any, no_grad_set: Any, *rest: Any) -> None:
    given = [program.find(v) if isinstance(v, str) else v for v in no_grad_set]
    _init(self, program, wanted, [v for v in given if v.operator is None], *rest)


def _through_everything(self: _Backward, operand: Any) -> bool:
    return hasattr(operand, "stop_gradient") and operand not in self.ignored


def _ones_for_all(self: _Backward, seeds: Any) -> None:
    _write(self, [(target, None) for target, _ in seeds])


def _first_target(self: _Backward, seeds: Any) -> None:
    _write(self, seeds[:1])


def _mean_seed(self: _Backward, seeds: Any) -> None:
    def share(target: Any) -> Any:
        size = int(np.prod(target.shape)) or 1
        return self.program.constant(np.full(target.shape, 1 / size, target.dtype))

    _write(self, [(target, share(target) if seed is None else seed) for target, seed in seeds])


def _stopped(self: _Backward, variable: Any, gradient: Any) -> Any:
    made = _named(self, variable, gradient)
    made.stop_gradient = True
    return made


def _zeros_for_none(targets: Any, inputs: Any, *rest: Any, **options: Any) -> Any:
    found = _gradients(targets, inputs, *rest, **options)
    listed = list(inputs) if isinstance(inputs, list | tuple) else [inputs]
    return [v.program.constant(np.zeros(v.shape, v.dtype)) if g is None else g for v, g in zip(listed, found, strict=True)]


def _reversed(*given: Any, **options: Any) -> Any:
    return list(reversed(_gradients(*given, **options)))


def _unchecked(targets: Any, inputs: Any, seeds: Any = None, *rest: Any, **options: Any) -> Any:
    listed = list(targets) if isinstance(targets, list | tuple) else [targets]
    given = [None] * len(listed) if seeds is None else list(seeds) if isinstance(seeds, list | tuple) else [seeds]
    given = [*given, *[None] * len(listed)][: len(listed)]
    fitting = [None if s is None or s.shape != t.shape else s for t, s in zip(listed, given, strict=True)]
    return _gradients(listed, inputs, fitting, *rest, **options)


def _all_parameters(loss: Any, parameters: Any = None, *rest: Any, **options: Any) -> Any:
    return _append_backward(loss, None, *rest, **options)


def _nothing_left_out(loss: Any, parameters: Any = None, ignored: Any = None, *rest: Any, **options: Any) -> Any:
    return _append_backward(loss, parameters, None, *rest, **options)


def _without_callbacks(loss: Any, parameters: Any = None, ignored: Any = None, callbacks: Any = None, **options: Any) -> Any:
    return _append_backward(loss, parameters, ignored, None, **options)


def _pairs_shifted(*given: Any, **options: Any) -> Any:
    pairs = _append_backward(*given, **options)
    found = [g for _, g in pairs]
    return [(p, g) for (p, _), g in zip(pairs, [*found[1:], *found[:1]], strict=True)]


def _no_region(self: ReferencePrograms) -> Any:
    return nullcontext()


def _unlinked(self: _Backward, op: Any) -> Any:
    return BY_FORMULA


def _callbacks_twice(self: _Backward, program: Any, wanted: Any, ignored: Any, dialect: Any, callbacks: Any = ()) -> None:
    def twice(callback: Any) -> Any:
        return lambda block, context: (callback(block, dict(context)), callback(block, context))

    _init(self, program, wanted, ignored, dialect, tuple(map(twice, callbacks)))


def _detached_operands(self: _Backward, op: Any) -> Any:
    return Connections(cut=tuple(range(len(op.operands))))


def _connected(fault: Any) -> Fault:
    return _backward("_connections", fault)


def _static(name: str, part: str, what: str, fault: Fault) -> Mutant:
    return Mutant(name, Kind.STATIC, part, what, fault, PADDLE_STATIC)


def _backward(name: str, replacement: Any) -> Fault:
    return patch((_Backward, name, replacement))


def _calling(name: str, replacement: Any) -> Fault:
    return patch((reference_impl, name, replacement))


MUTANTS = (
    _static("dropped_fan_in", "fan-in", "the last contribution to a variable is its gradient", _backward("_arrive", _fan_in_once)),
    _static(
        "two_contributions", "fan-in", "only the first two contributions to a variable are summed", _backward("gradient", _first_two)
    ),
    _static("static_no_grad_set_ignored", "no_grad_set", "no_grad_set does nothing", _backward("__init__", _nothing_ignored)),
    _static(
        "static_no_grad_set_of_inputs",
        "no_grad_set",
        "only inputs can be in the no_grad_set",
        _backward("__init__", _only_inputs_ignored),
    ),
    _static("stop_gradient_ignored", "flags", "gradients flow through stop_gradient", _backward("flows", _through_everything)),
    _static("target_gradients_ignored", "seeds", "target gradients count as ones", _backward("write", _ones_for_all)),
    _static("first_target_alone", "seeds", "only the first target is differentiated", _backward("write", _first_target)),
    _static(
        "static_no_seed_is_a_mean", "seeds", "a missing target gradient makes a mean of the target", _backward("write", _mean_seed)
    ),
    _static("static_seeds_unchecked", "seeds", "target gradients that do not fit count as ones", _calling("gradients", _unchecked)),
    _static("gradients_stop", "higher order", "what was appended cannot be differentiated", _backward("_named", _stopped)),
    _static("static_operands_detached", "higher order", "gradients count operands as constants", _connected(_detached_operands)),
    _static("static_links_forgotten", "higher order", "gradients are linked to what their formula uses", _connected(_unlinked)),
    _static("static_zeros_for_none", "unused", "an absent gradient is zeros", _calling("gradients", _zeros_for_none)),
    _static("static_results_reversed", "results", "gradients come back in reverse order", _calling("gradients", _reversed)),
    _static(
        "static_no_grad_ignored", "flags", "ops inside no_grad let gradients flow", patch((ReferencePrograms, "no_grad", _no_region))
    ),
    _static(
        "parameter_no_grad_set_ignored", "append_backward", "no_grad_set does nothing", _calling("append_backward", _nothing_left_out)
    ),
    _static(
        "parameter_list_ignored", "append_backward", "every parameter has a gradient", _calling("append_backward", _all_parameters)
    ),
    _static("callbacks_not_called", "append_backward", "callbacks are not called", _calling("append_backward", _without_callbacks)),
    _static("callbacks_twice", "append_backward", "callbacks are called twice", _backward("__init__", _callbacks_twice)),
    _static(
        "pairs_shifted",
        "append_backward",
        "parameters are paired with each other's gradients",
        _calling("append_backward", _pairs_shifted),
    ),
)
