"""The registry of mutants is complete, and its faults are what they say."""

from __future__ import annotations

import functools
from collections import Counter
from copy import copy
from itertools import count, islice, tee
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest

from conformance.backends import open_backend
from conformance.case.steps import Op
from conformance.deviations.entries import known
from conformance.generate.scripts import DrawOptions, case_of
from conformance.generate.sketch import Sketch
from conformance.generate.sources import FastSource
from conformance.mutants.derived import MOST, places
from conformance.mutants.mutant import Kind, Mutant, WrongEngine, patch
from conformance.mutants.registry import mutants, mutants_of
from conformance.mutants.samples import dialect_of, is_itself_in
from conformance.mutants.samples import samples as met
from conformance.ops import catalogue
from reference_impl import OPS, Tensor
from reference_impl.primitives.norms import OF_OTHER_ENGINES
from reference_impl.primitives.recurrent import OF_TWO_LAYERS
from reference_impl.reverse import walk
from reference_impl.tape.primitive import Primitive
from tests.reference_impl.rule_arguments import CONSTANT, ROWS, operands_for
from tests.reference_impl.rule_check import draw_like

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SAMPLES = 120
APPLIED = {
    "svd",
    "eigh",
    "qr",
    "products_of_rows",
    "reciprocal",
    "div_by_quotient",
    "silu_by_result",
    "huber",
    "divergence",
    "divergence_of_logs",
    "logistic_entropy",
    "soft_margin",
    "soft_margin_by_sum",
    "entropy",
    *(f"{term}_in_target" for term in ("divergence", "divergence_of_logs", "logistic_entropy", "entropy")),
    "times_own_log",
    "softmax_entropy",
    "entropy_of_shares",
    "smoothed",
    "mean_all",
    "mode",
    "eig",
    "narrow",
    "conv2d_plain",
    "conv3d_plain",
    "conv_transpose2d_plain",
    "conv_transpose3d_plain",
    "trilinear",
    "bilinear_as_one",
    "length_of",
    "at_least",
    "softsign_as_one",
    "link",
    "tanhshrink_as_one",
    "dropout_downscaled_as_one",
    "dropout_all_unsigned",
    "hardshrink_signed",
    "vander_as_one",
    "einsum_as_one",
    "einsum_single_as_one",
    "multi_dot_as_one",
    "matmul_transposed_as_one",
    "rnn_tanh_as_one",
    "gru_as_one",
    "lstm_as_one",
    "lstm_back_as_one",
    *(f"{op}_{form}_as_one" for op in ("rnn_tanh", "gru", "lstm") for form in ("stacked", "both_ways")),
    "without_nan",
    "copysign_by_quotient",
    "alignments",
    "alignments_of_scores",
    "less_own",
    "index_add_rows",
}
"""Ops in no row that scripts apply: others are made of them."""


def of_kind(kind: Kind) -> list[Mutant]:
    return [m for m in mutants().values() if m.kind is kind]


def names(found: list[Mutant]) -> set[str]:
    """Return the rules that mutants are wrong in, ``op.operand``."""
    return {f"{m.rule[0]}.{OPS[m.rule[0]].operands[m.rule[1]]}" for m in found if m.rule is not None}  # type: ignore[attr-defined]


class Asked(NamedTuple):
    """What a vjp rule is asked: about arrays or tensors, what the op makes of them, and cotangents that are nowhere the same."""

    op: Primitive
    operands: list[Any]
    attrs: dict[str, Any]
    out: Any
    seeds: Any

    @classmethod
    def about(cls, name: str, operands: list[Any], attrs: dict[str, Any], *, boxed: bool = False) -> Asked:
        """Draw the cotangents."""
        op = OPS[name]
        assert isinstance(op, Primitive)
        random = np.random.default_rng(3)
        made = op.forward(*operands, **attrs)
        seeds = [draw_like(o, random).astype(o.dtype) for o in (made if op.multi_output else (made,))]
        if boxed:
            operands, seeds = ([Tensor(array, requires_grad=True) for array in arrays] for arrays in (operands, seeds))
            made = op(*operands, **attrs)
        return cls(op, operands, attrs, made, tuple(seeds) if op.multi_output else seeds[0])

    def answer(self, position: int) -> Any:
        """Run the rule of an operand."""
        rule = self.op.rule(position)
        assert rule is not None
        which = {"position": len(self.operands) - 1} if self.op.variadic else {}
        with np.errstate(all="ignore"):
            return rule(self.seeds, self.out, *self.operands, **self.attrs, **which)


class Drawn:
    """The samples of an op, with what its right rules answer; each is drawn once, and not before it is asked for."""

    def __init__(self, op: str) -> None:
        self.op = op
        self._left = samples(op)
        self._samples: list[Asked] = []
        self._right: dict[tuple[int, int], Any] = {}

    def __iter__(self) -> Iterator[int]:
        for number in count():
            if number == len(self._samples):
                try:
                    self._samples.append(Asked.about(self.op, *next(self._left)))
                except StopIteration:
                    return
            yield number

    def answered(self, number: int, position: int) -> Any:
        """Return what the rule of an operand answers now."""
        return self._samples[number].answer(position)

    def right(self, number: int, position: int) -> Any:
        """Return what it answers where nothing is wrong."""
        if (number, position) not in self._right:
            self._right[number, position] = self.answered(number, position)
        return self._right[number, position]


drawn = functools.cache(Drawn)


def samples(op: str) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    """Yield operands and attributes: what the generator draws, exact and not, and what ops are met at that it does not draw."""
    return copy(_samples(op))


@functools.cache
def _samples(op: str) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    """Return an iterator that nobody advances: its copies have one memory, so that each sample is drawn once."""
    (first,) = tee(_drawn(op), 1)
    return first


def _drawn(op: str) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    for attempt in range(SAMPLES if op in catalogue() else 0):
        complex_too = catalogue()[op].numbers.taken == "both" and attempt % 4 > 1
        exact = catalogue()[op].is_exact(on_complex=complex_too) and attempt % 2 == 0
        alone = catalogue()[op].family == "complex" or catalogue()[op].numbers.taken == "complex"
        dtype = "complex128" if alone or complex_too else "float64"
        sketch = Sketch(FastSource(7, attempt), exact=exact, dtype=dtype)
        if sketch.add_op(op):
            step = sketch.steps[-1]
            assert isinstance(step, Op)
            arrays = {made.name: made.array() for made in sketch.inputs}
            yield [arrays[name] for name in step.operands], step.attrs
    if op not in catalogue():
        primitive = OPS[op]
        assert isinstance(primitive, Primitive)
        yield from ((list(sample.operands), sample.attrs) for sample in met(primitive))
    for attempt, (name, shapes, attrs) in enumerate((*ROWS, *CONSTANT)):
        if name == op:
            yield operands_for(op, shapes, np.random.default_rng(attempt)), attrs


def rules_of(ops: Iterable[str]) -> set[str]:
    """Return the names of all rules, ``op.operand``."""
    primitives = [op for op in map(OPS.__getitem__, ops) if isinstance(op, Primitive)]
    return {f"{op.name}.{op.operands[place.position]}" for op in primitives for place in places(op)}


def has_a_derivative(name: str) -> bool:
    """Whether what a rule answers is recorded as depending on anything."""
    op, _, operand = name.partition(".")
    position = OPS[op].operands.index(operand)  # type: ignore[attr-defined]
    made = (Asked.about(op, operands, attrs, boxed=True).answer(position) for operands, attrs in islice(samples(op), 8))
    return any(isinstance(m, Tensor) and m.requires_grad for m in made)


def is_offered_twice(rule: str) -> bool:
    """Whether some framework has the op of a rule, ``op.operand``, to order 2."""
    return dialect_of(rule.partition(".")[0], 2) is not None


def differs(mutant: Mutant) -> Iterator[bool]:
    """Yield for each sample whether a wrong rule answers something else than the right one."""
    assert mutant.rule is not None
    op, position = mutant.rule
    for number in drawn(op):
        right = drawn(op).right(number, position)
        with mutant.fault():
            try:
                wrong = drawn(op).answered(number, position)
            except ValueError:
                yield True
                continue
        yield right.dtype != wrong.dtype or not np.array_equal(right, wrong, equal_nan=True)


# The registry.


ELSEWHERE_ITS_PARTS = {"inner", "eigvalsh", "eigh_invariant", "kl_div_in_target", "mode_of_selected"}
"""Ops that both frameworks have as several others: no engine asks for their own rules."""


def test_every_rule_of_every_op_that_a_framework_has_has_a_wrong_version() -> None:
    written = names(of_kind(Kind.RULE)) - rules_of(OF_TWO_LAYERS)
    assert rules_of(set(OPS) - OF_OTHER_ENGINES - OF_TWO_LAYERS - ELSEWHERE_ITS_PARTS) == written


def test_a_wrong_rule_is_that_of_an_op_which_its_engine_applies_to_that_order() -> None:
    wrong = [m for m in mutants().values() if m.rule is not None and m.part in catalogue()]
    assert {} == {
        m.id: m.dialect.name
        for m in wrong
        if not is_itself_in(m.dialect, m.part) or not m.dialect.conventions.offers(m.part, m.kind.order)
    }


def test_every_rule_with_a_derivative_that_a_script_can_reach_has_a_fault_of_order_2() -> None:
    reached = {*rules_of(catalogue()), *rules_of(APPLIED)} - rules_of(OF_TWO_LAYERS)
    assert {name for name in reached if has_a_derivative(name) and is_offered_twice(name)} == names(of_kind(Kind.SECOND))


def test_a_rule_has_few_wrong_versions() -> None:
    counts = Counter((m.rule, m.kind) for m in mutants().values() if m.rule is not None)
    assert {} == {rule: n for (rule, kind), n in counts.items() if n > MOST[kind] + (kind is Kind.RULE)}


@pytest.mark.parametrize(
    ("kinds", "least"), [(set(Kind), 150), ({Kind.ENGINE}, 40), ({Kind.STATIC}, 15)], ids=["all", "engine", "static"]
)
def test_there_are_enough_mutants(kinds: set[Kind], least: int) -> None:
    assert sum(m.kind in kinds for m in mutants().values()) >= least


def test_no_known_deviation_excuses_a_mutant() -> None:
    assert set(mutants()).isdisjoint(entry.backend for entry in known())


def test_an_equivalent_mutant_says_why() -> None:
    assert [] == [m.id for m in mutants().values() if m.equivalent and len(m.equivalent) < 30]


def test_a_mutant_can_be_opened_as_a_backend() -> None:
    assert open_backend("conformance.mutants.engines:dropped_fan_out").info.name == "conformance.mutants.engines:dropped_fan_out"


# The faults.


RULED = [op for op in OPS.values() if isinstance(op, Primitive) and op.name not in OF_OTHER_ENGINES]


@pytest.mark.parametrize("op", RULED, ids=lambda op: op.name)
def test_the_wrong_rules_of_an_op_are_wrong(op: Primitive) -> None:
    assert [] == [m.id for m in mutants_of(op) if m.kind is Kind.RULE and not any(differs(m))]


@pytest.mark.parametrize("op", RULED, ids=lambda op: op.name)
def test_a_fault_of_order_2_changes_no_value_of_the_first_order(op: Primitive) -> None:
    assert [] == [m.id for m in mutants_of(op) if m.kind is Kind.SECOND and any(islice(differs(m), SAMPLES // 3))]


def outcomes(engine: Any) -> list[str]:
    """Run a few cases and write down all that was seen."""
    return [repr(engine.run(case_of(3, i, DrawOptions(static=engine.info.dialect.static)))) for i in range(2)]


def test_faults_are_gone_when_mutants_have_run() -> None:
    before = outcomes(WrongEngine("correct"))
    engines = [m for m in mutants().values() if m.rule is None and m.conditional is None]  # a conditional fault replaces nothing
    rules = [m for m in mutants().values() if m.rule is not None][::10]  # which are all replaced in the same way
    for mutant in (*engines, *rules):
        outcomes(mutant.open())
    assert before == outcomes(WrongEngine("correct"))


def test_a_fault_is_gone_even_if_its_engine_fails() -> None:
    def fails(*_: Any) -> None:
        raise KeyboardInterrupt

    right = walk.ReversePass.run
    with pytest.raises(KeyboardInterrupt):
        outcomes(WrongEngine("fails", patch((walk.ReversePass, "run", fails))))
    assert walk.ReversePass.run is right
