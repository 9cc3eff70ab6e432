"""Rules that are replaced by others, as all counterfactual rules of one kind are: the rule of every operand of some ops, in one way."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from reference_impl import DIALECTS, OPS
from reference_impl.tape.primitive import Primitive
from reference_impl.tape.rules import replaced_rule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from reference_impl.tape.rules import Rule


def made_of(ops: Sequence[str]) -> dict[str, None]:
    """Return the names of what ops of a script are made of in one of the dialects."""
    return dict.fromkeys(dialect.spelled.get(op, op) for op in ops for dialect in DIALECTS.values())


@contextmanager
def changed_rules(ops: Sequence[str], wrong: Callable[..., Any]) -> Iterator[None]:
    """Put ``wrong(rule, position, g, ...)`` in the place of every rule of ops, by the position of its operand.

    An op of a script may be made of another primitive in one of the dialects; that one's rules are meant, too.
    """
    meant = [op for op in map(OPS.__getitem__, made_of(ops)) if isinstance(op, Primitive)]
    with ExitStack() as stack:
        for op in meant:
            for position, rule in enumerate(op.rules):
                if rule is not None:
                    stack.enter_context(replaced_rule(op, position, partial(_at, position, wrong)))
        yield


def _at(position: int, wrong: Callable[..., Any], right: Rule) -> Rule:
    return partial(wrong, right, position)
