"""The wrong rules that an op gets without a line: mutation operators, each where it changes something.

An operator whose wrong rule answers as the right one does at every sample would make an equivalent mutant, so it makes none, and
`ruled_out` names it with the reason. A fault of order 2 must change a derivative of what the rule answers, in the cotangent or in the
operands::

    [mutant.id for mutant in derived(OPS["sin"])]
    # sin-x-sign, sin-x-not_conjugated, sin-x-result_for_operand, sin-x-half_linked, sin-x-constant_cotangent
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from conformance.mutants.mutant import Kind, Mutant
from conformance.mutants.operators import CURVED, FIRST, LINEAR, Place
from conformance.mutants.samples import dialect_of, is_applied
from conformance.mutants.trial import identical, trial
from conformance.mutants.wrong_rule import rule_fault
from reference_impl import OPS, TORCH
from reference_impl.tape.primitive import Primitive

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from conformance.mutants.operators import Operator

MOST: Mapping[Kind, int] = {Kind.RULE: 3, Kind.SECOND: 2}
"""How many wrong versions a rule gets of each kind, those written by hand included; of faults in the gradient one is always derived."""
MOSTLY = 0.5
"""An op that rules alone apply is met in gradients of gradients, too seldom to wait for a square or for an index that is there twice.

There an operator must change the rule at this part of the samples. What that leaves out is no equivalent mutant: it is opened by
its id, see `named`.
"""

ALL = ((Kind.RULE, FIRST), (Kind.SECOND, CURVED), (Kind.SECOND, LINEAR))
"""All operators, each list with the kind of fault that they make."""


def derived(op: Primitive, by_hand: Iterable[tuple[Kind, int]] = ()) -> Iterator[Mutant]:
    """Yield mutants of an op's rules, beside those that are written by hand, each a kind and the position of the operand."""
    taken = list(by_hand)
    for place in places(op):
        for kind, entered in _entered(place):
            room = MOST[kind] - taken.count((kind, place.position))
            for operator in _apart(place, entered, max(room, int(kind is Kind.RULE))):
                yield mutant_of(place, kind, operator)


def places(op: Primitive) -> list[Place]:
    """Return the rules of an op."""
    return [Place(op, position) for position, rule in enumerate(op.rules) if rule is not None]


def ruled_out(op: Primitive) -> Iterator[tuple[Place, Operator, str]]:
    """Yield the operators that make no mutant of a rule, with the reason."""
    for place in places(op):
        for operator in (*FIRST, *CURVED, *LINEAR):
            if reason := trial(place).ruled_out(operator):
                yield place, operator, reason


def mutant_of(place: Place, kind: Kind, operator: Operator) -> Mutant:
    """Make a mutant of a rule."""
    op, position = place
    name = f"{op.name}-{op.operands[position]}-{operator.name}"
    what = f"the gradient of {op.name}.{op.operands[position]} {operator.what}"
    fault = rule_fault(op.name, position, functools.partial(operator.mistake, place))
    return Mutant(name, kind, op.name, what, fault, dialect_of(op.name, kind.order) or TORCH, rule=(op.name, position))


def named(name: str) -> Mutant:
    """Return a mutant by its id, ``op-operand-operator``, without trying whether it changes anything.

    Raises:
        KeyError: if there is no such operator, or no such rule.
    """
    op, operand, wanted = (*name.split("-"), "", "")[:3]
    primitive = OPS[op]
    if isinstance(primitive, Primitive):
        for place in places(primitive):
            for kind, operator in ((kind, operator) for kind, entered in ALL for operator in entered):
                if (place.op.operands[place.position], operator.name) == (operand, wanted):
                    return mutant_of(place, kind, operator)
    raise KeyError(name)


def _entered(place: Place) -> Iterator[tuple[Kind, Sequence[Operator]]]:
    """Yield the operators that may be tried on a rule, kind by kind.

    A rule that scripts reach in gradients of gradients alone has no fault of order 2: that would be one of order 3. A fault of an order
    to which no framework has the op would be that of no engine.
    """
    if dialect_of(place.op.name) is not None:
        yield Kind.RULE, FIRST
    if is_applied(place.op.name) and dialect_of(place.op.name, Kind.SECOND.order) is not None:
        yield Kind.SECOND, CURVED if trial(place).is_curved else LINEAR


def _apart(place: Place, entered: Sequence[Operator], room: int) -> Iterator[Operator]:
    """Yield the first operators that change a rule, no two of them in the same way."""
    changing: Iterator[Operator] = (operator for operator in entered if not trial(place).ruled_out(operator))
    if not is_applied(place.op.name):
        tried = list(changing)
        changing = iter([operator for operator in tried if trial(place).share(operator) >= MOSTLY] or tried[:1])
    found: list[Operator] = []
    for operator in changing:
        if len(found) >= room:
            break
        if not any(_same(place, operator, other) for other in found):
            found.append(operator)
            yield operator


def _same(place: Place, one: Operator, other: Operator) -> bool:
    return all(map(identical, trial(place).answers(one), trial(place).answers(other)))
