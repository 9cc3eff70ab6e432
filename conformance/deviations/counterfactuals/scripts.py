"""Counterfactuals: what a script would be if an engine's mistake were no mistake but written in it.

The wrong numbers of a known deviation are not arbitrary: they are what the reference predicts for another script, in which an operand
is a constant, an op is left out, a hook answers nothing. Each counterfactual yields such scripts, with the number that the step in
question has there. An entry of a ``deviation.toml`` names its own as its *signature*; see `conformance.deviations.wrong_values`.
"""

from __future__ import annotations

import functools
import itertools
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from conformance.case.place import END, StepNumber
from conformance.case.queries import edges, leaves, ops_in, until, upstream
from conformance.case.rewrite import (
    CONSTANT,
    answering_nothing,
    bypass,
    each_op,
    each_step,
    expand_steps,
    replace_step,
    with_single_numbers,
    with_steps,
    without_root,
)
from conformance.case.steps import Backward, Custom, Grad, Hook, InPlace, Op, RetainGrad
from conformance.deviations.conditions.calls import moves_nothing
from conformance.deviations.conditions.programs import returns_operand
from conformance.deviations.counterfactuals.attributes import casts_to_complex_numbers, logits_clipped, single_points_in_front
from conformance.deviations.counterfactuals.calls import (
    Variant,
    constant_seeds_tracked,
    cut_forgotten,
    cut_forgotten_and_kept,
    derivatives_copied,
    flags_set_again,
    frozen_seeds_constant,
    hooks_gone,
    hooks_removed_by_number,
    keeping_its_graph,
    leaf_hooks_gone,
    missing_gradients_none,
    missing_gradients_zeros,
    no_seeds,
    nothing_freed,
    op_recorded,
    others_asked,
    refusals_lifted,
    returning_as_many,
    saved_leaves_constant,
    seed_constant,
    siblings_asked,
    surplus_seeds_dropped,
    unreachable_allowed,
    views_of_toggled_flagged,
)
from conformance.deviations.counterfactuals.captures import another_result_asked
from conformance.deviations.counterfactuals.customs import OF_CUSTOMS
from conformance.deviations.counterfactuals.cuts import MOST, OF_CUTS
from conformance.deviations.counterfactuals.flags import views_flagged_with_their_bases
from conformance.deviations.counterfactuals.gradients import OF_GRADIENTS
from conformance.deviations.counterfactuals.returned import dropouts_of_nothing_returned
from conformance.deviations.counterfactuals.seeds import OF_SEEDS
from conformance.deviations.counterfactuals.slots import products_with_seeds_read, seeds_of_first_operand, seeds_read_in_a_row
from conformance.deviations.counterfactuals.starts import asked_outputs_not_started, outputs_in_some_order
from conformance.deviations.counterfactuals.targets import OF_TARGETS
from conformance.deviations.counterfactuals.unbound import parts_stacked_alone
from conformance.deviations.counterfactuals.writes import (
    another_gradient_written,
    copy_written,
    flags_of_written_kept,
    laid_out_copied,
    reshaped_numbers_copied,
    seeds_written_by_accumulation,
    write_bound_anew,
    write_unrecorded,
)
from conformance.ops.dtypes import nearer_to_zero

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from conformance.case.case import Case
    from conformance.case.steps import Step

LITTLE = 1.0 - 2.0**-20
"""The factor by which `bound_nearer` moves a bound towards 0: more than a rounding of float32, less than elements are apart."""
BELOW = -1e-30
"""What it makes of a bound of 0, at which only 0 lies."""


def op_left_out(case: Case, number: StepNumber, ops: Sequence[str]) -> Iterator[Variant]:
    """Leave out an op of one operand and one result: its operand stands for its result; one such op, or every one that may be.

    Those are the ops that an entry names, or, where it names none, those that move nothing.
    """
    unary = (
        (i, step)
        for i, step in enumerate(until(case, number))
        if isinstance(step, Op) and len(step.operands) == len(step.results) == 1 and i != number
    )
    found = [i for i, step in unary if (step.op in ops if ops else moves_nothing(case, i))]
    sets = [[i] for i in reversed(found)] + [list(pair) for pair in itertools.combinations(found, 2)] + [found]
    for left_out in itertools.islice(sets, MOST):
        yield bypass(case, left_out), number if number is END else number - sum(i < number for i in left_out)


def operands_returned(case: Case, number: StepNumber, _: Sequence[str]) -> Iterator[Variant]:
    """Leave out every op before the step that returns its operand in a program: both names are those of one variable."""
    found = [i for i in range(len(case.steps) if number is END else number) if returns_operand(case, i)]
    if found:
        yield bypass(case, found), number if number is END else number - len(found)


def hook_ignored(case: Case, number: StepNumber, _: Sequence[str]) -> Iterator[Variant]:
    """Have hooks answer nothing: those on one tensor, or all."""
    hooked = list(dict.fromkeys(s.tensor for s in until(case, number) if isinstance(s, Hook)))
    for tensors in [*([name] for name in hooked), hooked]:

        def quiet(step: Step, tensors: Sequence[str] = tensors) -> Step:
            if isinstance(step, Hook) and step.tensor in tensors:
                return msgspec.structs.replace(step, returns="nothing", factor=None, tensor_returned=None)
            return step

        yield each_step(case, quiet), number


def inputs_retained(case: Case, number: StepNumber, _: Sequence[str]) -> Iterator[Variant]:
    """Ask every computed input of a `backward` to retain its gradient from then on."""
    given, of = {i.name for i in case.inputs}, edges(case.steps)

    def retained(_: int, step: Step) -> list[Step]:
        asked = [of.get(n, n) for n in step.inputs or ()] if isinstance(step, Backward) else []
        return [step, *(RetainGrad(name) for name in asked if name not in given)]

    yield expand_steps(case, number, retained)


def inputs_dropped(case: Case, number: StepNumber, _: Sequence[str]) -> Iterator[Variant]:
    """Take the edges of computed tensors from the inputs of every `backward`; one left without inputs is asked for a leaf."""
    given = {i.name for i in case.inputs}
    of_computed = {edge for edge, tensor in edges(case.steps).items() if tensor not in given}
    others = [i.name for i in case.inputs if i.differentiable]

    def without(step: Step) -> Step:
        if not isinstance(step, Backward) or of_computed.isdisjoint(step.inputs or ()):
            return step
        left = tuple(n for n in step.inputs or () if n not in of_computed)
        return msgspec.structs.replace(step, inputs=left or tuple(others[:1]))

    yield each_step(case, without), number


def all_inputs(case: Case, number: StepNumber, _: Sequence[str]) -> Iterator[Variant]:
    """Have every `backward` accumulate into all leaves, not into its inputs alone; have a `grad` ask for a root, or for all leaves."""
    yield each_step(case, lambda s: msgspec.structs.replace(s, inputs=None) if isinstance(s, Backward) else s), number
    call = None if number is END else case.steps[number]
    if number is not END and isinstance(call, Grad):
        kept = [msgspec.structs.replace(s, retain_graph=True) if isinstance(s, Grad) else s for s in case.steps[:number]]
        # of its roots those count that lead to an input, or all
        idle = [i for i, root in enumerate(call.roots) if upstream(kept, root).isdisjoint(call.inputs)]
        leading = functools.reduce(without_root, reversed(idle), call) if 0 < len(idle) < len(call.roots) else call
        for of, asked in ((call, call.outputs[:1]), *((one, tuple(sorted(leaves(case)))) for one in dict.fromkeys((call, leading)))):
            named = tuple(f"{CONSTANT}{i}" for i in range(len(asked)))
            form = None if call.form == "bare" else call.form  # one tensor alone is bare
            wider = msgspec.structs.replace(of, inputs=asked, results=named, allow_unused=True, form=form)
            yield with_steps(case, (*kept, wider)), number


def numbers_rounded(case: Case, number: StepNumber, ops: Sequence[str]) -> Iterator[Variant]:
    """Round the numbers among the attributes to float32: all, those of ops, or all but those of one of them, which may keep its own."""
    used = ops_in(case)
    for rounded in (used, ops, *([op for op in used if op != kept] for kept in ops)):
        yield with_single_numbers(case, rounded), number


def lists_rounded(case: Case, number: StepNumber, ops: Sequence[str]) -> Iterator[Variant]:
    """Round the numbers among the attributes of ops to float32, and those in lists, too."""
    yield with_single_numbers(case, ops or None, lists=True), number


def gone_through(case: Case, number: StepNumber, _: Sequence[str]) -> Iterator[Variant]:
    """Have the call not be refused, whatever was freed, is not offered, or callbacks return; or have it not been made."""
    if number is END:
        return
    for refused in (("error", "another_dtype"), ("error", "another_dtype", "tensor")):

        def willing(step: Step, refused: Sequence[str] = refused) -> Step:
            return returning_as_many(keeping_its_graph(answering_nothing(step, refused)))

        through = each_step(case, willing)
        call = through.steps[number]
        yield through if not isinstance(call, Grad) else replace_step(through, number, _of_first_order(call)), number
    yield with_steps(case, case.steps[:number]), END


def _of_first_order(call: Grad) -> Grad:
    return msgspec.structs.replace(call, create_graph=False, allow_unused=True)


def polar_through_result(case: Case, number: StepNumber, _: Sequence[str]) -> Iterator[Variant]:
    """Differentiate every `polar` through its result ``z``: ``Re(g conj(sgn(z)))`` and ``Im(g conj(z))``."""
    steps: list[Step] = []
    for i, step in enumerate(case.steps):
        changed: Step = step
        if isinstance(step, Op) and step.op == "polar":
            z, g, s, factor, along, size, mirrored, across, turn = (f"{CONSTANT}{i}_{k}" for k in range(9))
            in_size = (
                Op("sgn", (z,), (s,)),
                Op("conj", (s,), (factor,)),
                Op("mul", (g, factor), (along,)),
                Op("real", (along,), (size,)),
            )
            in_turn = Op("conj", (z,), (mirrored,)), Op("mul", (g, mirrored), (across,)), Op("imag", (across,), (turn,))
            forward = (msgspec.structs.replace(step, results=(z,), no_grad=False),)
            gradients = (size, turn)
            changed = Custom(step.operands, step.results, forward, (z,), (g,), gradients, (*in_size, *in_turn), (z,), step.no_grad)
        steps.append(changed)
    yield with_steps(case, steps), number


def sgn_of_operand(case: Case, number: StepNumber, _: Sequence[str]) -> Iterator[Variant]:
    """Have every `sgn` be its operand over the size of that, so that derivatives are made of the operand and not of the result."""

    def divided(i: int, step: Step) -> list[Step]:
        if not isinstance(step, Op) or step.op != "sgn":
            return [step]
        size, inverse = f"{CONSTANT}{i}_0", f"{CONSTANT}{i}_1"
        sizes = [Op("abs", step.operands, (size,)), Op("pow_scalar", (size,), (inverse,), {"exponent": -1.0})]
        return [*sizes, msgspec.structs.replace(step, op="mul", operands=(*step.operands, inverse))]

    yield expand_steps(case, number, divided)


def bound_nearer(case: Case, number: StepNumber, ops: Sequence[str]) -> Iterator[Variant]:
    """Have the ops lie beyond their bounds where they are at them: each bound is a little nearer to 0, or the next number.

    The next number is for another element that lies there, or so near that rounding brings it there.
    """

    def nearer(move: Callable[[float], float], op: Op | InPlace) -> Op | InPlace:
        if isinstance(op, Op) and "bound" in op.attrs and (not ops or op.op in ops):
            return msgspec.structs.replace(op, attrs={**op.attrs, "bound": move(op.attrs["bound"]) or BELOW})
        return op

    moves: list[Callable[[float], float]] = [
        lambda bound: bound * LITTLE,
        lambda bound: nearer_to_zero(bound, np.float32),
        lambda bound: nearer_to_zero(bound, np.float64),
    ]
    for move in moves:
        yield each_op(case, functools.partial(nearer, move)), number


COUNTERFACTUALS: dict[str, Callable[[Case, StepNumber, Sequence[str]], Iterator[Variant]]] = {
    **OF_CUTS,
    **OF_CUSTOMS,
    "as if an op were left out": op_left_out,
    "as if ops that return their operand were left out": operands_returned,
    "as if an op that moves nothing were recorded": op_recorded,
    "as if a hook answered nothing": hook_ignored,
    "as if inputs were retained": inputs_retained,
    "as if a derivative were a copy": derivatives_copied,
    "as if computed edges were no inputs": inputs_dropped,
    "as if all inputs were asked for": all_inputs,
    "as if other leaves were asked for, too": others_asked,
    "as if numbers were float32": numbers_rounded,
    "as if numbers in lists were float32": lists_rounded,
    "as if casts kept imaginary parts": casts_to_complex_numbers,
    "as if single points lay in front": single_points_in_front,
    "as if logits were clipped": logits_clipped,
    "as if one of no_grad_vars were missing": cut_forgotten,
    "as if one of no_grad_vars were missing and nothing were freed": cut_forgotten_and_kept,
    "as if nothing were freed": nothing_freed,
    "as if seeds of identities were constants": frozen_seeds_constant,
    "as if seeds were gradients in the first operand": seeds_of_first_operand,
    "as if products with seeds were read in a row": products_with_seeds_read,
    "as if seeds were read in a row": seeds_read_in_a_row,
    "as if surplus seeds were missing": surplus_seeds_dropped,
    "as if no seeds were given": no_seeds,
    "as if constant seeds required a gradient": constant_seeds_tracked,
    "as if a seed were a constant": seed_constant,
    "as if saved leaves were constants": saved_leaves_constant,
    "as if leaves had no hooks": leaf_hooks_gone,
    "as if a tensor had no hooks any more": hooks_gone,
    "as if hooks were removed by their number": hooks_removed_by_number,
    "as if what is unreachable were allowed": unreachable_allowed,
    "as if another refusal came first": refusals_lifted,
    "as if missing gradients were None": missing_gradients_none,
    "as if missing gradients were zeros": missing_gradients_zeros,
    "as if the write were not recorded": write_unrecorded,
    "as if a copy were written": copy_written,
    "as if what is written had kept its flag": flags_of_written_kept,
    "as if another gradient were written": another_gradient_written,
    "as if a seed were written where gradients are added": seeds_written_by_accumulation,
    "as if the op were not in place": write_bound_anew,
    "as if another gradient of the call were asked for": siblings_asked,
    "as if another result of the node were asked for": another_result_asked,
    "as if a part were stacked alone": parts_stacked_alone,
    "as if reshaped numbers were copies": reshaped_numbers_copied,
    "as if views that are laid out were copies": laid_out_copied,
    "as if flags were set again": flags_set_again,
    "as if views of what was flagged were leaves": views_of_toggled_flagged,
    "as if views had the flags of their bases": views_flagged_with_their_bases,
    "as if the call had gone through, or not been made": gone_through,
    "as if polar were differentiated through its result": polar_through_result,
    "as if sgn were its operand over its size": sgn_of_operand,
    "as if a bound were nearer": bound_nearer,
    "as if dropouts of nothing were their operands": dropouts_of_nothing_returned,
    "as if outputs that are inputs started nothing": asked_outputs_not_started,
    "as if a pass began with its outputs in some order": outputs_in_some_order,
    **OF_GRADIENTS,
    **OF_SEEDS,
    **OF_TARGETS,
}
"""The counterfactuals by the words that an entry uses."""
