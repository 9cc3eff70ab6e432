"""The odds of the generator: every number that says how often, how many or how large, with the reason for it.

A campaign is what its odds make of it: what it covers, what it can find and what it costs all hang on them. So they stand in one frozen
record, which the options of a draw carry (`conformance.generate.scripts.DrawOptions`) and the header of a run's record names (`named`).
To draw with others, replace some:

    odds = Odds(scripts=ScriptOdds(deep=0.9), in_place=InPlaceOdds(wrong=0.5))
    case_of(1, 0, DrawOptions(odds=odds, changing=1.0))

A number between 0 and 1 is the probability of what it names. A tuple is chosen from: what stands in it twice is drawn twice as often,
and what stands first is the simplest, towards which Hypothesis shrinks. Mistakes have one reason in common: an engine must refuse
each of them, but a refused step hides what comes behind it. So each mistake is rare, and a script has many chances to make one.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

HookReturns: TypeAlias = Literal["nothing", "scaled", "tensor", "another_dtype", "error"]


class Range(NamedTuple):
    """Whole numbers from ``low`` to ``high``, both included, all equally likely."""

    low: int
    high: int


@dataclass(frozen=True, slots=True)
class SketchOdds:
    """Values: their shapes and elements, and which of them an op is applied to."""

    #: Lengths of an axis: 2 and 3 tell axes apart at the least cost; 1 broadcasts, 0 has no elements, and either would hide mistakes.
    lengths: tuple[int, ...] = (2, 3, 2, 3, 2, 3, 1, 1, 4, 2, 3, 2, 3, 4, 1, 3, 2, 3, 2, 0)
    ranks: tuple[int, ...] = (2, 1, 2, 1, 3, 0)  #: Numbers of axes of a fresh input: most ops need one or two, few need three.
    constant: float = 0.25  #: An input that is not differentiable: a rule must leave its slot out, and must not need it.
    #: Elements and Python numbers of the numeric lane lie between this and its negative: on both sides of the kinks at 0 and at ±1.
    reach: float = 2.0
    #: Least element of the domain "positive", before `margin` is added: logarithms and roots stay moderate.
    positive_from: float = 0.375
    #: Largest element of the domain "positive", before `margin` is added; of the domain "beyond one" so far from 1.
    positive_to: float = 2.5
    #: Numerators of elements in the exact lane: small integers keep products of many of them exact.
    exact_numerators: Range = Range(-3, 3)
    #: Denominators of elements in the exact lane: each half costs a bit of the grain of all that is computed with it.
    exact_denominators: tuple[int, ...] = (1, 1, 1, 2)
    counts: Range = Range(0, 3)  #: Elements of the domain "count".
    apart: float = 0.5  #: Distance of neighbours in the domain "distinct": exact, and larger than `margin`.
    #: An input of the numeric lane that has few different elements, so that kinks and ties are met exactly, as in the exact lane.
    tied: float = 0.08
    #: The elements of such an input: kinks and bounds of the usual functions, and both zeros.
    ties: tuple[float, ...] = (1.0, 0.0, -1.0, 0.5, -0.0, 2.0)
    halves: Range = Range(-4, 4)  #: Python numbers of the exact lane, in halves.
    #: A fresh tensor that is not finite, in a script that may have one: two in three have, and few have nothing but NaN for gradients.
    unbounded: float = 0.3
    #: The same of a fresh seed: it meets every rule on its way down, and what it becomes at order 2 is only seen in what is left of it.
    unbounded_seed: float = 0.5
    everywhere: float = 0.4  #: All elements of such a tensor are not finite, not one alone: infinity then meets each zero beside it.
    unbounded_elements: tuple[str, ...] = ("inf", "nan", "-inf")  #: What they are, in words, since NaN is not equal to itself.
    real_input: float = 0.2  #: A real input among complex ones: an op that takes both must give it a real gradient.
    mixed_operand: float = 0.4  #: A real operand beside a complex one, where the op mixes them.
    #: An input of the other precision, in a script that has both: often enough that most such scripts have leaves of either.
    other_precision: float = 0.4
    mixed_precision: float = 0.3  #: In such a script an operand of the other precision beside the first, where the op mixes them.
    #: An input, a seed, or what a hook returns, whose elements lie in memory in another layout than row by row (`layouts`): an engine
    #: has kernels of its own for these, and every layout costs a step or two.
    laid_out: float = 0.06
    #: A fresh input although a value would do: inputs that only one op uses keep their gradient simple to read.
    fresh_operand: float = 0.08
    recent_operand: float = 0.6  #: An operand from among the latest values: graphs grow deep, and still have diamonds.
    recent_operands: int = 3  #: How many values are the latest ones, for operands.
    #: A second operand that exists already, where one fits: fan-out, against broadcasting, which is drawn with fresh ones.
    existing_partner: float = 0.7
    #: Shapes of a fresh second operand: two in five are those of the first, the others broadcast in each of the three ways.
    partner_shapes: tuple[str, ...] = ("same", "shorter", "ones", "longer", "same")
    axis_of_one: float = 0.5  #: An axis of length 1 in a partner that broadcasts by ones: any subset of the axes.
    no_grad_op: float = 0.04  #: An op under ``no_grad``: it cuts the graph, so it is rare.
    #: How far from 0, from each other or from 1 elements of the domains "nonzero", "positive", "distinct", "unit" and "beyond one" are:
    #: quotients stay moderate.
    margin: float = 0.25
    #: Largest element that is built upon in the numeric lane: three orders of derivatives of it stay far from overflow in float32.
    largest: float = 1e3
    #: The same in the exact lane: with `exact_grain` an element has 14 bits of the 24 of float32, which leaves room for what follows.
    exact_largest: float = 256.0
    #: Most elements of what an op makes: pads and tiles multiply, and a chain of them, or a product of all pairs, outgrows any memory.
    most_elements: int = 4096
    exact_grain: float = 64.0  #: Elements of the exact lane are multiples of ``1 / exact_grain``.


@dataclass(frozen=True, slots=True)
class CallOdds:
    """Autograd calls: of what, with which seeds, and with respect to what. The defaults are those of eager scripts."""

    #: Roots from among values that a call would not mostly want: such that require no gradient, or, in a program, inputs.
    stray_root: float = 0.02
    #: How many roots: mostly one; the gradients of two add up, and with three or more there are some between the first and the last.
    roots: tuple[int, ...] = (*(1,) * 16, 2, 2, 3, 4)
    recent_root: float = 0.8  #: A root from among the latest values: the gradient goes through most of the graph.
    recent_roots: int = 4  #: How many values are the latest ones, for roots.
    repeated_root: float = 0.1  #: A root that was drawn again stays: it counts as often.
    summed_root: float = 0.3  #: The root is summed first, as a loss is.
    no_seeds_for_single: float = 0.5  #: No seeds at all for roots of one element, where ones are meant.
    no_seeds: float = 0.05  #: No seeds at all for larger roots: PyTorch refuses.
    null_seed_for_single: float = 0.2  #: No seed for one root of one element.
    null_seed: float = 0.02  #: No seed for one root of any size.
    seed_shape: float = 0.015  #: A seed of a wrong shape.
    longer_seed: float = 0.5  #: That shape has an axis too many, not too few.
    seed_precision: float = 0.02  #: A seed of another precision than its root.
    seed_kind: float = 0.04  #: A real seed of a complex root, or the other way round.
    shared_seed: float = 0.4  #: One tensor is the seed of two roots, where it fits both: who adds into it spoils the other's.
    #: The seed is a value that exists and fits: what ops made, the root itself, a leaf.
    existing_seed: float = 0.1
    gradient_seed: float = 0.6  #: That value is a gradient, where one fits: seeds of users mostly come out of another call.
    computed_seed: float = 0.05  #: A fresh seed is multiplied by a value first: a seed with a history, which a call must not enter.
    tracked_seed: float = 0.5  #: A seed that requires a gradient, where the call creates a graph: at order 2 a seed is an input, too.
    seed_count: float = 0.015  #: A seed too many or too few.
    leaves: float = 0.75  #: Gradients of leaves alone, not of computed values.
    roots_too: float = 0.1  #: The roots themselves are among what may be asked for.
    #: A root that is an input may be asked for in any event: no step lies between, so there is little else to ask.
    root_that_is_input: float = 1.0
    unreachable: float = 0.04  #: What is asked for need not be above the roots: unused, which a call may refuse or answer with nothing.
    untracked: float = 0.1  #: A value that requires no gradient is among them.
    many: float = 0.2  #: The first values are asked for, many at once.
    many_are: int = 6  #: How many these are.
    few: Range = Range(1, 3)  #: Otherwise so few.
    asked_twice: float = 0.03  #: The same value asked for twice stays, where it was drawn.
    cut: float = 0.06  #: Values that the call shall treat as constants (``no_grad_vars``); PyTorch does not offer it.
    cuts: Range = Range(1, 2)  #: How many these are.


#: Programs refuse less, and building one costs twenty times as much as an eager call, so each asks more: gradients of
#: intermediates, and seeds that are inputs. What has no meaning in a program has probability 0, and what is without alternative 1.
PROGRAM_CALLS = CallOdds(
    stray_root=0.03,
    roots=(*(1,) * 15, 2, 2, 2, 3, 4),
    repeated_root=0.0,  # Paddle counts a target once that stands twice: a known deviation, which would cover what comes behind it
    summed_root=0.0,
    no_seeds_for_single=0.4,
    no_seeds=0.1,
    null_seed_for_single=0.0,
    null_seed=0.1,  # ones are meant, whatever the size
    seed_precision=0.0,
    tracked_seed=0.97,
    leaves=0.7,
    roots_too=0.05,
    root_that_is_input=0.0,
    unreachable=0.08,
    untracked=1.0,  # a program takes any variable
    many=0.0,
    asked_twice=0.05,
    cut=0.1,
)

#: Scripts with infinities and NaN are few, and what becomes of these at order 2 shows only where a derivative can be differentiated:
#: with a seed that is an input it always can, whatever the ops.
UNBOUNDED_CALLS = CallOdds(no_seeds_for_single=0.15, tracked_seed=0.9)


@dataclass(frozen=True, slots=True)
class ScriptOdds:
    """Scripts: how long they are, and how the calls of one follow each other."""

    float64: float = 0.25  #: Double precision: rarer, since float32 shows more of how an engine computes.
    deep: float = 0.55  #: A case that asks for second derivatives: half of the suite's purpose.
    #: A script with leaves of both precisions, and casts between them: gradients must come back in the precision of their leaf.
    both_precisions: float = 0.12
    casts: int = 2  #: How often `cast` stands among the few ops of such a script, so that its precisions meet.
    any_order: float = 0.4  #: Such a case draws from all ops, not only from those that every dialect differentiates twice.
    vocabulary: Range = Range(2, 7)  #: How many ops a case chooses from (swarm testing: few at a time, so that they meet).
    complex_vocabulary: Range = Range(1, 3)  #: The same for complex cases; beside them come `own_ops` and `curved_ops`.
    own_ops: int = 3  #: So many ops of complex numbers: they are a tenth of the catalogue and all that such a case is about.
    curved_ops: int = 2  #: So many ops with factors that a rule must conjugate.
    later_ops: Range = Range(1, 3)  #: So many ops that came later beside the one that a script is about.
    beside_later: int = 3  #: So many others beside these.
    more_inputs: Range = Range(0, 1)  #: Inputs before the first op, beside the first: others come with the ops that need them.
    #: Probability of a state step after each op; one is drawn per script: most scripts have few, some have many.
    state: tuple[float, ...] = (0.03, 0.03, 0.25)
    #: A script that changes tensors in place has many state steps: what is attached to a tensor and what is written to it meet.
    state_and_writes: float = 0.5
    state_before_call: int = 2  #: Before a call a state step is so many times as likely: what the call does with it shows at once.
    change: float = 0.3  #: A script that changes tensors in place does so at each place where it may.
    episodes: Range = Range(1, 3)  #: Episodes: one graph is differentiated and built upon several times.
    grow_again: float = 0.3  #: An episode begins with more ops.
    grown: Range = Range(1, 3)  #: How many these are.
    second_order: float = 0.75  #: An episode of a deep case differentiates derivatives.
    ops_on_derivatives: Range = Range(0, 2)  #: Ops on derivatives, before these are differentiated.
    third_order: float = 0.35  #: A third derivative: it costs most and adds little.
    #: How many of the derivatives are roots together, where they differ.
    derivatives: tuple[int, ...] = (*(1,) * 12, *(2,) * 3, *(3,) * 3, *(4,) * 2)
    summed_derivative: float = 0.3  #: The derivative is summed before it is differentiated, which takes its seed away.
    retain_by_default: float = 0.7  #: The graph of a derivative is kept by default, not by a flag.
    by_backward: float = 0.5  #: ``backward`` rather than ``grad``.
    clear: float = 0.35  #: Gradients are cleared between two calls of ``backward``: the others accumulate.
    backward_again: float = 0.45  #: ``backward`` a second time, with the same roots: on a freed graph, or accumulating.
    grad_again: float = 0.25  #: ``grad`` a second time, with the same roots.
    grad_with_graph: float = 0.1  #: ``grad`` of first order with ``create_graph``.
    backward_with_graph: float = 0.05  #: ``backward`` with ``create_graph``: PyTorch warns of it, and few use it.
    no_retain: float = 0.25  #: ``retain_graph`` is left out.
    retain_last: float = 0.35  #: ``retain_graph=True`` in the last call, which nothing uses.
    retain: float = 0.8  #: ``retain_graph=True`` before others, which would be refused without.
    form: float = 0.12  #: Lists are handed over in another form: as tuples, as bare tensors.
    bare: float = 0.7  #: That form is bare, where a list has one member.
    cut_as_set: float = 0.3  #: ``no_grad_vars`` is handed over as a set.
    root_by_edge: float = 0.015  #: A root is named by its edge.
    input_by_edge: float = 0.02  #: What is asked for is named by its edge.
    #: The same in a script that changes tensors in place: what is written in between must not move the edge.
    written_by_edge: float = 0.3
    backward_by_edge: float = 0.1  #: The same for the ``inputs`` of ``backward``, where edges are the usual reason to give any.
    early_edge: float = 0.4  #: The edge was asked for early, not just before the call.
    early_edge_before_write: float = 0.8  #: The same in a script that changes tensors in place.
    backward_inputs: float = 0.08  #: ``backward`` with ``inputs``.
    old_name: float = 0.06  #: ``backward`` with seeds by their old name, ``grad_variables``.
    both_names: float = 0.1  #: By both names: one must be refused.
    no_grad_call: float = 0.05  #: A call under ``no_grad``, which must not matter.
    dump: float = 0.05  #: ``dump_backward_graph``.
    allow_unused: float = 0.45  #: ``allow_unused=True``.
    forbid_unused: float = 0.2  #: Otherwise ``allow_unused=False``, said.
    not_only_inputs: float = 0.03  #: ``only_inputs=False``.
    materialize: float = 0.04  #: ``materialize_grads=True``.
    batched: float = 0.04  #: A batch of seeds (``is_grads_batched``).
    batch: Range = Range(1, 3)  #: How many seeds a batch has.


@dataclass(frozen=True, slots=True)
class StateOdds:
    """State steps: what a script does to tensors between growing a graph and differentiating it."""

    #: Which step: hooks have most to them, then retained gradients.
    steps: tuple[str, ...] = ("hook", "hook", "hook", "retain", "retain", "toggle", "clear", "detach", "remove")
    untracked: float = 0.05  #: A subject that requires no gradient: to be refused.
    #: What a hook does: mostly it only looks, or it scales; errors end a call, so they are rare.
    hooks: tuple[HookReturns, ...] = (*("nothing",) * 9, *("scaled",) * 6, *("tensor",) * 3, "another_dtype", "error")
    factors: tuple[float, ...] = (2.0, -1.0, 0.5, 0.0, -3.0)  #: By what a hook scales: exact, of both signs, and 0.
    returned_shape: float = 0.1  #: A hook returns a tensor of a wrong shape.
    returned_tracked: float = 0.3  #: What a hook returns requires a gradient.
    across_results: float = 0.5  #: Further hooks, across the results of one op: their order is promised.
    retain_any: float = 0.15  #: A retained gradient of any value, not of a computed one.
    flag_of_any: float = 0.3  #: A flag of any value is set, not of an input: a computed value must refuse.
    flag_turned: float = 0.85  #: A flag is turned over, not set to what it is.


@dataclass(frozen=True, slots=True)
class InPlaceOdds:
    """In-place updates."""

    wrong: float = 0.12  #: An update that one framework refuses.
    of_intermediate: float = 0.8  #: A right update is one of an intermediate, not of a leaf, where there is one.
    of_unshared: float = 0.3  #: A right update is one of a value that shares its memory with none.
    #: A right update is one of a tensor that was detached for it, as those write who want nothing recorded: all that shares its memory
    #: must show it, and a gradient that needs the old elements must be refused.
    detached: float = 0.1
    no_grad_leaf: float = 0.95  #: Updates of leaves are under ``no_grad``, as an optimizer's are.
    no_grad: float = 0.15  #: Other updates are under ``no_grad``.
    usual: float = 0.4  #: The update is arithmetic or an assignment to a part: that is how people write in place.
    itself: float = 0.08  #: The operand is the target itself.
    too_wide: float = 0.03  #: The operand makes the result wider than the target, which must be refused.
    existing: float = 0.75  #: The operand exists already.
    same_shape: float = 0.7  #: A fresh operand has the target's shape, not one axis less.


@dataclass(frozen=True, slots=True)
class CustomOdds:
    """Custom functions."""

    tracked: float = 0.85  #: A first operand that requires a gradient: otherwise the backward is never called.
    recent: int = 4  #: How many values are the latest ones, of which the first operand is one.
    more_operands: tuple[int, ...] = (1, 0, 1, 2)  #: Operands beside the first.
    #: The backward is the derivative of the forward. Otherwise it is any formula, which shows more: that it is called, and with what.
    derivative: float = 0.25
    two_outputs: float = 0.35  #: Two outputs.
    forward: Range = Range(1, 3)  #: Ops in a forward, per output.
    backward: Range = Range(0, 3)  #: Ops in a backward, per gradient.
    binary: float = 0.5  #: Each op of them is binary.
    polynomial: float = 0.6  #: A unary op of the numeric lane is a polynomial, not a transcendental function.
    no_grad: float = 0.04  #: The function is called under ``no_grad``.
    output_is_operand: float = 0.015  #: An output that is an operand.
    no_gradient: float = 0.05  #: No gradient for an operand that requires one.
    no_gradient_of_constant: float = 0.9  #: No gradient for an operand that requires none, as it should be.
    further_cotangent: float = 0.7  #: A gradient uses each further cotangent.
    gradient_precision: float = 0.02  #: A gradient of another precision.
    gradient_with_axis: float = 0.015  #: A gradient with an axis too many.
    gradient_summed: float = 0.01  #: A gradient that was summed, so that it must be broadcast.
    raises: float = 0.05  #: The backward raises: a call that ends there must say so, and leave what was before it.
    too_few: float = 0.015  #: A gradient too few.
    too_few_of_constant: float = 0.12  #: The same where the last operand has none: leaving it out may be right.
    too_many: float = 0.015  #: A gradient too many.
    too_many_is_none: float = 0.5  #: What is too much is nothing (``None``).


@dataclass(frozen=True, slots=True)
class ProgramOdds:
    """Static programs; what they share with eager scripts is in `ScriptOdds`."""

    second_input: float = 0.5  #: A second input before the first op.
    grown: Range = Range(1, 2)  #: Ops at the beginning of a later episode: fewer, since a program is built anew for each case.
    append_backward: float = 0.12  #: A backward part is appended for a loss.
    summed_loss: float = 0.6  #: The loss is summed first, since it must have one element.
    parameter_list: float = 0.3  #: ``parameter_list`` is given.
    parameters: Range = Range(1, 2)  #: How many parameters it names.
    no_grad_set: float = 0.2  #: ``no_grad_set`` is given.
    by_name: float = 0.15  #: Either is given by names, not by variables.
    callbacks: float = 0.2  #: ``callbacks`` are given.
    flag_set: float = 0.08  #: ``stop_gradient`` of a variable is set, and gradients are asked for again.


@dataclass(frozen=True, slots=True)
class Odds:
    """All odds of the generator, by part."""

    sketch: SketchOdds = SketchOdds()
    scripts: ScriptOdds = ScriptOdds()
    calls: CallOdds = CallOdds()
    state: StateOdds = StateOdds()
    in_place: InPlaceOdds = InPlaceOdds()
    custom: CustomOdds = CustomOdds()
    programs: ProgramOdds = ProgramOdds()
    program_calls: CallOdds = PROGRAM_CALLS
    unbounded_calls: CallOdds = UNBOUNDED_CALLS


USUAL = Odds()
"""What a campaign is drawn with unless it is told otherwise."""


def named(odds: Odds) -> dict[str, float]:
    """Return all odds as numbers by name, for a record: ``{"sketch.constant": 0.25, "sketch.lengths.2": 0.35, …}``.

    Of what is chosen from a tuple each option has its share; a `Range` has its ends.
    """
    return {name: number for part in fields(odds) for name, number in named_part(part.name, getattr(odds, part.name)).items()}


def named_part(part: str, record: Any) -> dict[str, float]:
    """Return the odds of one part."""
    numbers: dict[str, float] = {}
    for field in fields(record):
        numbers.update(_numbers(f"{part}.{field.name}", getattr(record, field.name)))
    return numbers


def _numbers(name: str, value: Any) -> dict[str, float]:
    if is_dataclass(value):
        return named_part(name, value)
    if isinstance(value, Range):
        return {f"{name}.low": float(value.low), f"{name}.high": float(value.high)}
    if isinstance(value, tuple):
        return {f"{name}.{option}": count / len(value) for option, count in Counter(map(str, value)).items()}
    return {name: float(value)}
