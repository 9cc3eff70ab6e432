"""Fault localisation: the first wrong node of a reverse pass.

A wrong gradient of a leaf says little about which of twenty ops is at fault. So the script is run again with a hook that returns
nothing on every computed value behind the roots of the diverging call, and both sides show the cotangent of every value. In reverse
order, the first step whose results have the right cotangents and one of whose operands does not is the one whose rule is wrong.
Example: in ``z = sum(exp(mul(x, y)))`` with a wrong rule of exp, what arrives at exp's result is right and what leaves for its operand
is not, so exp is named, although mul passes the wrong number on.

An engine without hooks is asked for all these gradients by one `grad`; in the place of a `backward` each value is made a leaf, and of a
pass that ends in an exception one value is asked for at a time (`leaf_probes`). Where a value has several uses, each is given a copy,
which tells their contributions apart; if each contribution is right, their sum is wrong. A gradient that was asked for in the middle of
a pass, and from which the pass goes on, counts as a use as well.

In a pass of second order the step that is named may be the `Grad` that made a first derivative. That one is then written out rule by
rule (`unrolling`), and the first wrong rule in it is looked for in the same way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from conformance.backends.dumped import DOT
from conformance.case.aliases import sharing_with
from conformance.case.outcome import Computed, Raised
from conformance.case.place import END
from conformance.case.queries import label, leaves, upstream_of
from conformance.case.rewrite import replace_uses
from conformance.case.steps import Backward, Custom, Detach, Edge, Grad, InPlace, Op, results, uses
from conformance.compare.compare import Comparer
from conformance.judge.call_faults import fault_of_call
from conformance.judge.hook_probes import HOOKS, wrong_under_hooks
from conformance.judge.leaf_probes import REFUSING, refused_for, wrong_of_leaves
from conformance.judge.unlocalised import NobodyBeginsError, NotAskedError, NothingDiffersError, UnlocalisedError
from conformance.judge.unrolling import UnrolledError, copying, unrolled
from reference_impl import Category

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet

    from conformance.backends import Backend
    from conformance.case.case import Case
    from conformance.case.outcome import Observation, Outcome
    from conformance.case.rewrite import Use
    from conformance.case.steps import Call, Step
    from conformance.compare.mismatch import Mismatch
    from conformance.compare.promise import Promise
    from conformance.judge.unrolling import Rule

    Kinds = AbstractSet[str]

LOCALISED = ("value", "absence", "shape")
"""The kinds of differences that begin at some rule, and are handed on by others."""
BEGINNING = {"value": frozenset({"value", "absence"}), "error": REFUSING, **{k: frozenset({k}) for k in ("absence", "shape", "dtype")}}
"""By the kind of a difference, the kinds of those at which it may begin.

A cotangent that is lost makes a wrong sum, so a wrong number may begin at an absence; but no wrong number makes a wrong shape.
"""
ANY = frozenset({*LOCALISED, "dtype", "flag"})
A_DERIVATIVE = "the derivative of a derivative; the rule inside it is not named: written out rule by rule"


class Node(NamedTuple):
    """Where a difference begins, in words, or why that is not named.

    Attributes:
        op: whose rule or forward it is, if it is that of one.
        clears: whether it turned out that the difference does not begin in what was looked at.
    """

    words: str
    op: str = ""
    clears: bool = False


class _Emission(NamedTuple):
    """A step that receives right cotangents, of the values ``arriving``, and emits a wrong one of another value."""

    step: int
    value: str
    arriving: list[str]


def first_node(promise: Promise, accused: Backend, found: Mismatch) -> Node:
    """Return the first step of the pass that receives correct cotangents and emits a wrong one, or why none can be named."""
    if found.step is END:
        return Node("not named: the difference is in the state after the last step")
    case = promise.case
    step = case.steps[found.step]
    place = f"step {found.step} ({label(case, found.step)})"
    begins = begins_at_a_rule(found.kind, found.expected, found.actual)
    if found.kind == "error" and not begins:
        return Node(f"{place}: whether it is refused, and how")
    if isinstance(step, Op):
        return Node(f"{place}: its flag") if found.kind == "flag" else Node(f"{place}: its forward", step.op)
    if isinstance(promise.outcome.observations[found.step], Raised):
        return Node(f"{place}: what a refused call leaves behind")
    if found.kind == "flag" and isinstance(step, Grad) and step.create_graph:
        return _at(place, _inside(promise, found.step, found.step, accused, ANY))
    if not isinstance(step, Grad | Backward) or not (begins or found.kind == "dtype"):
        return Node(f"{place}: a difference of kind {found.kind}, which has no cotangents")
    if found.where == "event" and found.name == DOT:
        return Node("not named: what is dumped are no cotangents")
    if _has_values_of_two_places(case.steps[: found.step], step):
        return Node("not named: in-place updates and edges give values more than one place in the graph")
    if words := fault_of_call(promise, found.step, step, accused, found):
        return Node(f"{place}: {words}")
    return _in_pass(promise, found.step, step, accused, BEGINNING[found.kind])


def begins_at_a_rule(kind: str, expected: str, actual: str) -> bool:
    """Whether what differs begins at some rule: a number, an absence or a shape, or an exception that nobody expected."""
    return kind in LOCALISED or (kind, expected, actual) == ("error", "computed", Category.UNMAPPED)


def _has_values_of_two_places(before: Sequence[Step], call: Call) -> bool:
    """Whether something that a call goes through was changed in place, or is asked for by its edge."""
    behind = upstream_of(before, (name for _, name in uses(call)))
    written = {step.tensor for step in before if isinstance(step, InPlace)}
    edges = {name for step in before if isinstance(step, Edge) for name in step.results}
    return not behind.isdisjoint(sharing_with(written, before) | edges)


def _at(place: str, node: Node) -> Node:
    return node._replace(words=f"{place}: {node.words}")


def _inside(promise: Promise, number: int, inner: int, accused: Backend, kinds: Kinds) -> Node:
    """Name the rule inside a first derivative, whose own derivative is wrong, or say why none is named."""
    case = promise.case
    seen = zip(case.steps, promise.outcome.observations, strict=True)
    made = {n for s, o in seen if isinstance(o, Computed) for n, v in zip(results(s), o.values, strict=False) if v and v.requires_grad}
    copied = copying(accused.info)
    if copied is None:
        return Node(f"{A_DERIVATIVE}, it needs copies, for which the engine has no op")
    try:
        written = unrolled(case, inner, frozenset(made | {entry.name for entry in case.inputs if entry.differentiable}), copied)
    except UnrolledError as error:
        return Node(f"{A_DERIVATIVE}, {error}")
    asked = promise.of(written.case)
    shown = [o.observations for o in (asked.outcome, accused.run(written.case))]
    for i, rule in sorted(written.rules.items()):
        if [_tracks(observations[i]) for observations in shown] == [True, False]:
            return Node(f"{rule.words} gives what depends on nothing", rule.op)
    moved = written.moved.get(number, number)
    call = written.case.steps[moved]
    if moved == number or not isinstance(call, Grad | Backward):
        return Node(f"{A_DERIVATIVE}, each of its rules depends on something")
    found = _in_pass(asked, moved, call, accused, kinds, written.rules)
    return found if found.op else Node(f"{A_DERIVATIVE}, {found.words.removeprefix('not named: ')}", clears=found.clears)


def _tracks(seen: Observation) -> bool:
    return isinstance(seen, Computed) and any(value is not None and value.requires_grad for value in seen.values)


def _in_pass(promise: Promise, number: int, call: Call, accused: Backend, kinds: Kinds, rules: dict[int, Rule] | None = None) -> Node:
    """Name the first node of a pass that emits a wrong cotangent, or say where else the difference begins, or why that is not named."""
    try:
        (i, name, arriving), kinds = _first_emission(promise, number, call, accused, kinds, rules)
    except NotAskedError:
        return _only_op(promise.case, number, call)
    except UnlocalisedError as elsewhere:
        return Node(str(elsewhere), clears=elsewhere.clears)
    if rules is not None:
        return Node(f"the derivative of {rules[i].words}, with respect to {rules[i].inside.get(name, name)}", rules[i].op)
    case = promise.case
    for j in _derivatives_of(case, number, call, name):
        inside = _inside(promise, number, j, accused, kinds)
        if not inside.clears:
            return _at(f"step {j} ({label(case, j)})", inside)
    behind = upstream_of(case.steps[:number], call.roots)
    users = [
        j for j in range(number) if name in getattr(case.steps[j], "operands", ()) and not behind.isdisjoint(results(case.steps[j]))
    ]
    places = [(j, "operands", at) for j in users for at, used in enumerate(case.steps[j].operands) if used == name]  # type: ignore[union-attr]
    if len(places) > 1:
        try:
            i, _, arriving = _among_uses(promise, number, places, accused, kinds)
        except NobodyBeginsError:
            return Node(f"the sum of what the {len(places)} uses of {name} contribute: each is right")
        except UnlocalisedError as untold:
            if len(users) > 1:
                return Node(f"not named: {name} has {len(places)} uses, and {str(untold).removeprefix('not named: ')}")
    step, place = case.steps[i], f"step {i} ({label(case, i)})"
    words = f"{place}: what arrives at {', '.join(arriving)} is right, what leaves for {name} is not"
    return Node(words, step.op if isinstance(step, Op) else "")


def _first_emission(
    promise: Promise, number: int, call: Call, accused: Backend, kinds: Kinds, rules: dict[int, Rule] | None
) -> tuple[_Emission, Kinds]:
    """Return the first step that emits a difference of these kinds, or else of any kind; and the kinds that were looked for.

    Raises:
        UnlocalisedError: if no step does.
    """
    try:
        return _emitting(promise, number, call, accused, kinds, rules), kinds
    except NotAskedError:
        raise
    except UnlocalisedError:
        if kinds in (ANY, REFUSING):
            raise
        return _emitting(promise, number, call, accused, ANY, rules), ANY


def _only_op(case: Case, number: int, call: Call) -> Node:
    """Name the op of a pass that goes through no other: where nothing in between can be asked for, that is all there is to tell."""
    behind = upstream_of(case.steps[:number], call.roots)
    passed = [step for step in case.steps[:number] if not behind.isdisjoint(results(step))]
    ops = {step.op for step in passed if isinstance(step, Op)}
    if len(ops) != 1 or not all(isinstance(step, Op | Grad) for step in passed):
        return Node(str(NotAskedError()))
    (op,) = ops
    return Node(f"a pass through one op (op:{op}) alone: nothing in between can be asked for", op)


def _among_uses(promise: Promise, number: int, places: list[Use], accused: Backend, kinds: Kinds) -> _Emission:
    """Return the step that emits a wrong cotangent for its use of a value, where that has several uses.

    Raises:
        UnlocalisedError: if no step does, or the uses cannot be told apart.
    """
    copied, case = copying(accused.info), promise.case
    if copied is None:
        raise UnlocalisedError("the engine has no op that gives each a copy of it")
    apart = replace_uses(case, places, copied)
    copies = {name for step in apart.steps for name in results(step)}.difference(*map(results, case.steps))
    moved = number + len(places)
    asked = promise.of(apart)
    if any(differs.name in copies for differs in Comparer(asked).differences(accused.run(apart))):
        raise UnlocalisedError("a copy that the engine makes of it is none")
    among = _emitting(asked, moved, apart.steps[moved], accused, kinds, copies=copies)  # type: ignore[arg-type]
    return among._replace(step=sum(copies.isdisjoint(results(step)) for step in apart.steps[: among.step]))


def _derivatives_of(case: Case, number: int, call: Call, name: str) -> list[int]:
    """Return the first derivatives that a call goes through and that depend on a value, the last first.

    A derivative depends on its seeds and on all values that its pass went through. Where a gradient was asked for on the way of its
    pass, the rest of the pass begins with that gradient.
    """
    behind = upstream_of(case.steps[:number], call.roots)
    found = []
    for i, step in enumerate(case.steps[:number]):
        if isinstance(step, Grad) and step.create_graph and not behind.isdisjoint(step.results):
            came_by = {*(step.seeds or ()), *upstream_of(case.steps[:i], step.roots)}
            on_the_way = (made for asked, made in zip(step.inputs, step.results, strict=True) if _is_made(case, asked))
            if name in came_by.union(on_the_way):
                found.append(i)
    return found[::-1]


def _is_made(case: Case, name: str) -> bool:
    return any(name in results(step) for step in case.steps if isinstance(step, Op | Custom))


def _emitting(
    promise: Promise,
    number: int,
    call: Call,
    accused: Backend,
    kinds: Kinds,
    rules: dict[int, Rule] | None = None,
    copies: AbstractSet[str] = frozenset(),
) -> _Emission:
    """Return the first step that is given right cotangents and emits a wrong one. What makes ``copies`` is not looked at.

    Raises:
        UnlocalisedError: if no step does, with the place where the difference begins otherwise, if that is known.
    """
    case = promise.case
    accumulates = isinstance(call, Backward)
    watched = _behind(case, number, call.roots, promise.outcome, accumulates=accumulates)
    if kinds == REFUSING:
        wrong = refused_for(promise, number, call, accused, watched)
    elif isinstance(call, Backward) and accused.info.refusal((HOOKS,)) is not None:
        wrong = wrong_of_leaves(promise, number, call, accused, watched, kinds)
    else:
        wrong = wrong_under_hooks(promise, number, call, accused, watched, kinds)
    if not wrong:
        raise NothingDiffersError
    for i in sorted(range(number) if rules is None else rules, reverse=True):
        arriving = [name for name in results(case.steps[i]) if name in watched]
        passed = [name for _, name in uses(case.steps[i]) if name in wrong]
        if arriving and passed and wrong.isdisjoint(arriving) and copies.isdisjoint(arriving):
            return _Emission(i, passed[0], arriving)
    if accumulates and wrong and wrong.isdisjoint(watched) and not copies:
        raise UnlocalisedError(f"the accumulation into {min(wrong)}: the cotangent that arrives is right")
    if not wrong.isdisjoint(call.roots):
        root = next(name for name in call.roots if name in wrong)
        raise UnlocalisedError(f"the call itself: the cotangent of its root {root} is not right")
    raise NobodyBeginsError


def _behind(case: Case, number: int, roots: Sequence[str], expected: Outcome, *, accumulates: bool) -> list[str]:
    """List the computed values behind the roots of a call that require a gradient, the newest first; then leaves, if it accumulates."""
    wanted = set(roots)
    found = []
    for step, seen in reversed(list(zip(case.steps[:number], expected.observations[:number], strict=True))):
        if isinstance(step, Detach) or not isinstance(seen, Computed) or wanted.isdisjoint(results(step)):
            continue
        wanted.update(name for _, name in uses(step))
        found += [n for n, v in zip(results(step), seen.values, strict=False) if v is not None and v.requires_grad and n in wanted]
    return found + sorted((leaves(case) & wanted).difference(found) if accumulates else ())
