"""The contract of a backend: every adapter here keeps it, and each way to break it is found out and said in words."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pytest

from conformance.backends import BackendInfo, open_backend
from conformance.backends.contract import check
from conformance.backends.interpreter import Interpreter
from conformance.backends.reference import ReferenceEngine, reference
from conformance.backends.registry import BUILT_IN
from conformance.campaign.workers.pool import Workers
from conformance.case.outcome import Blocked, Computed, NotOffered, Raised
from conformance.case.steps import Backward, Grad
from conformance.judge.canary import healthy
from reference_impl import DIALECTS, PADDLE_STATIC, TORCH, Category
from tests.conformance import broken_adapters
from tests.conformance.door import conformance

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conformance.backends import Backend
    from conformance.case.case import Case
    from conformance.case.outcome import Outcome


def problems_of(name: str) -> list[str]:
    """Check a backend, in whatever process this is called."""
    return check(lambda: open_backend(name))


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    """Open worker processes, one for each backend."""
    with Workers(tuple(BUILT_IN), 1) as opened:
        yield opened


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_built_in_backend_keeps_the_contract(workers: Workers, name: str) -> None:
    assert [] == workers.call(problems_of, name)


def is_healthy(name: str) -> bool:
    """Run the canary on a backend, in whatever process this is called."""
    return healthy(open_backend(name))


@pytest.mark.parametrize("name", BUILT_IN)
def test_the_canary_lives_on_a_built_in_backend_that_nothing_has_damaged(workers: Workers, name: str) -> None:
    assert workers.call(is_healthy, name)


@pytest.mark.parametrize("dialect", [*DIALECTS.values(), PADDLE_STATIC], ids=lambda dialect: dialect.name)
def test_the_reference_keeps_the_contract_in_every_dialect(dialect: Any) -> None:
    assert [] == check(lambda: reference(dialect, dialect.not_offered))


class Broken:
    """The reference with one breach: what it answers is changed before it is handed out."""

    def __init__(self, breach: Callable[[Any, Case], Any] = lambda outcome, case: outcome, **info: Any) -> None:
        self.right = reference(TORCH, TORCH.not_offered)
        self.info = replace(self.right.info, **info)
        self.breach = breach

    def run(self, case: Case) -> Outcome:
        return self.breach(self.right.run(case), case)  # type: ignore[no-any-return]


def of_engine(**methods: Any) -> Callable[[], Backend]:
    """Open the reference with other methods of its engine."""

    def opened() -> Backend:
        engine = ReferenceEngine(TORCH, widen=False)
        for name, method in methods.items():
            setattr(engine, name, method)
        return Interpreter(reference(TORCH, TORCH.not_offered).info, engine)

    return opened


def broken(change: Callable[[Any, Case], None]) -> Callable[[], Backend]:
    """Open the reference with its outcomes changed."""

    def breach(outcome: Outcome, case: Case) -> Outcome:
        change(outcome, case)
        return outcome

    return lambda: Broken(breach)


def values_changed(change: Callable[[Any], Any]) -> Callable[[], Backend]:
    """Open the reference with every array that a step returns changed."""

    def breach(outcome: Any, case: Case) -> None:
        for seen in outcome.observations:
            for value in (v for v in getattr(seen, "values", ()) if v is not None):
                value.array = change(value.array)

    return broken(breach)


def absent_as_zeros(outcome: Any, case: Case) -> None:
    for step, seen in zip(case.steps, outcome.observations, strict=True):
        if isinstance(step, Grad) and isinstance(seen, Computed):
            seen.values = tuple(v or replace(seen.values[0], array=np.zeros(3, np.float32)) for v in seen.values)


def grads_as_zeros(outcome: Any, case: Case) -> None:
    kept = next((v for v in outcome.final if v is not None), None)
    outcome.final = tuple(v or (kept and replace(kept, array=np.zeros(3, np.float32))) for v in outcome.final)


def never_absent_again(outcome: Any, case: Case) -> None:
    states = [seen.state for seen in outcome.observations if isinstance(seen, Computed) and seen.state]
    outcome.final = tuple(v or next((s[i] for s in states if s[i]), None) for i, v in enumerate(outcome.final))


def unseeded(step: Any, values: Any) -> Any:
    return ReferenceEngine(TORCH, widen=False).grad(msgspec.structs.replace(step, grad_outputs=None), values)


def engine_given(**changes: Any) -> Callable[[], Backend]:
    """Open the reference whose adapter changes the calls that it hands on."""
    right = ReferenceEngine(TORCH, widen=False)
    changed = {of: {field: new for field, new in changes.items() if field in of.__struct_fields__} for of in (Backward, Grad)}

    def given(step: Any) -> Any:
        return msgspec.structs.replace(step, **{field: new(getattr(step, field)) for field, new in changed[type(step)].items()})

    return of_engine(
        backward=lambda step, values, dump: right.backward(given(step), values, dump),
        grad=lambda step, values: right.grad(given(step), values),
    )


def same_state_everywhere(outcome: Any, case: Case) -> None:
    for seen in outcome.observations:
        if isinstance(seen, Computed) and seen.state:
            seen.state = outcome.final


def stops_after_an_error(outcome: Any, case: Case) -> None:
    failed = [i for i, seen in enumerate(outcome.observations) if isinstance(seen, Raised)]
    for i in range(failed[0] + 1 if failed else len(case.steps), len(case.steps)):
        outcome.observations[i] = Blocked("s")


def without_words(outcome: Any, case: Case) -> None:
    for seen in outcome.observations:
        if isinstance(seen, Raised):
            seen.message = ""


def raises(outcome: Any, case: Case) -> None:
    messages = [seen.message for seen in outcome.observations if isinstance(seen, Raised)]
    if messages:
        raise LookupError(messages[0])


def flags_up(outcome: Any, case: Case) -> None:
    for seen in outcome.observations:
        for value in getattr(seen, "values", ()):
            if value is not None:
                value.requires_grad = True


def attributes_lost(outcome: Any, case: Case) -> None:
    for step in case.steps:
        getattr(step, "attrs", {}).clear()


def clobbers(step: Any, operands: Any) -> Any:
    made = ReferenceEngine(TORCH, widen=False).apply(step, operands)
    operands[0].array = operands[0].array + 1
    return made


def counting() -> Backend:
    runs = itertools.count()
    return values_changed(lambda array: array + next(runs))()


def wrong_info(**info: Any) -> Callable[[], Backend]:
    return lambda: Broken(**info)


def cannot_open() -> Backend:
    msg = "no such engine"
    raise RuntimeError(msg)


BREACHES: dict[str, tuple[Callable[[], Backend], str]] = {
    "it cannot be opened": (cannot_open, "open_backend raises RuntimeError: no such engine"),
    "its info is none": (lambda: _with_info(None), "info is a NoneType, not a BackendInfo"),
    "it has no version": (wrong_info(version=""), "info has no name or no version"),
    "its dialect is a word": (wrong_info(dialect="torch"), "info.dialect is a str"),
    "it gives no reason": (wrong_info(not_offered={"no_grad": ""}), "no reason for 'no_grad'"),
    "it misspells what it does not offer": (
        wrong_info(not_offered={"step:hooks": "there are none"}),
        "info.not_offered has 'step:hooks', which is no word for anything; near it are step:hook",
    ),
    "it has a word of its own for what it does not offer": (
        wrong_info(not_offered={"jit": "there are none"}),
        "which is no word for anything; near it are no_grad, step:op",
    ),
    "it is repeatable sometimes": (wrong_info(repeatable="sometimes"), "info.repeatable is 'sometimes', not one of bitwise, rounding"),
    "it raises what the engine raises": (broken(raises), "run raises LookupError"),
    "it returns no outcome": (lambda: Broken(lambda outcome, case: None), "run returns a NoneType"),
    "it leaves a step out": (broken(lambda outcome, case: outcome.observations.pop()), "0 observations of 1 steps"),
    "it shows the gradients of some alone": (
        broken(lambda outcome, case: setattr(outcome, "final", ())),
        "the final .grad of 0 values, of 1 that are watched",
    ),
    "it makes up a kind of observation": (
        broken(lambda outcome, case: outcome.observations.__setitem__(0, "fine")),
        "step 0 is a str, no observation",
    ),
    "it returns lists": (values_changed(lambda array: array.tolist()), "not a Value with an array of NumPy"),
    "it loses a result": (broken(lambda outcome, case: _one_lost(outcome)), "1 values for 2 results"),
    "it changes inputs": (of_engine(apply=clobbers), "changes x, though no step does"),
    "it changes the case": (broken(attributes_lost), "run changes the case that it is given"),
    "it remembers": (counting, "something is left behind"),
    "it shows zeros for an absent gradient": (broken(absent_as_zeros), "h is [0.0, 0.0, 0.0], not absent"),
    "it shows zeros for an absent .grad": (broken(grads_as_zeros), "w.grad is [0.0, 0.0, 0.0], not absent"),
    "it forgets the seed": (of_engine(grad=unseeded), "the seed of a call is passed on: g is Raised(category=<Category.SEED_REQUIRED"),
    "it hands on the first root alone": (
        engine_given(tensors=lambda names: names[:1]),
        "all roots of a call are passed on: x.grad is [2.0, 4.0, 6.0]",
    ),
    "it ignores what a backward is asked for": (
        engine_given(inputs=lambda names: None),
        "(backward.inputs): w.grad is [1.0, 2.0, 3.0]",
    ),
    "it ignores the old name of seeds": (
        engine_given(grad_variables=lambda names: None),
        "(grad_variables): x.grad is absent, not [8.0",
    ),
    "it ignores create_graph of a backward": (
        engine_given(create_graph=lambda flag: False),
        "(backward.create_graph): x.grad has requires_grad=False, not True",
    ),
    "it ignores create_graph": (engine_given(create_graph=lambda flag: False), "(grad.again): h is Raised("),
    "it ignores materialize_grads": (engine_given(materialize_grads=lambda flag: False), "(materialize_grads): g is Raised("),
    "it ignores is_grads_batched": (engine_given(is_grads_batched=lambda flag: False), "(is_grads_batched): g is Raised("),
    "it never forgets a .grad": (broken(never_absent_again), "x.grad is [2.0, 4.0, 6.0], not absent"),
    "it does not clear to zero": (of_engine(clear_grad=lambda tensor, to: setattr(tensor, "grad", None)), "x.grad is absent, not [0.0"),
    "it hands out what is written to": (broken(same_state_everywhere), "an observation does not change afterwards: x.grad is [4.0"),
    "it cannot look at a .grad without axes": (
        of_engine(grad_of=lambda tensor: tensor.grad if tensor.grad is None or tensor.array.shape else tensor.grad.array.item()),
        "a .grad without axes is shown like any other: step 2 shows a tensor that cannot be looked at (AttributeError",
    ),
    "it stops after an error": (broken(stops_after_an_error), "y is Blocked(missing='s'), not computed"),
    "it swallows messages": (broken(without_words), "not Raised with the engine's message"),
    "it maps every message": (of_engine(category=lambda error: Category.GRAPH_FREED), "RuntimeError('the contract asks"),
    "it takes any refusal for another": (of_engine(category=lambda error: Category.GRAPH_FREED), "do not fit has the category"),
    "it offers what it says it does not": (
        wrong_info(not_offered={"no_grad": "a reason"}),
        "info says that it is not: a reason",
    ),
    "it does not do what it offers": (
        broken(lambda outcome, case: outcome.observations.__setitem__(0, NotOffered("busy"))),
        "info says that it is offered",
    ),
    "it widens": (values_changed(lambda array: array.astype(np.float64)), "y is a float64 of (3,), not a float32 of (3,)"),
    "it flattens": (values_changed(np.ravel), "y is a float64 of (2,), not a float64 of (1, 2)"),
    "it hides what is not finite": (values_changed(np.nan_to_num), "what is not finite comes through"),
    "its detached tensors require gradients": (broken(flags_up), "d has requires_grad=True, not False"),
    "it records inside no_grad": (broken(flags_up), "nothing is recorded inside no_grad: y has requires_grad=True"),
}


def _with_info(info: BackendInfo | None) -> Any:
    backend = Broken()
    backend.info = info  # type: ignore[assignment]
    return backend


def _one_lost(outcome: Any) -> None:
    for seen in outcome.observations:
        if len(getattr(seen, "values", ())) == 2:
            seen.values = seen.values[:1]


@pytest.mark.parametrize(("opens", "words"), BREACHES.values(), ids=BREACHES)
def test_a_breach_of_the_contract_is_said_in_words(opens: Callable[[], Backend], words: str) -> None:
    found = check(opens)
    assert [words] == [words for problem in found if words in problem][:1], found


def test_what_breaks_every_probe_is_said_once_and_where() -> None:
    (found,) = check(broken_adapters.breaks)
    assert "run raises ValueError: no leaf for x (broken_adapters.py, line" in found


def test_an_adapter_that_is_sound_is_told_what_comes_next() -> None:
    done = conformance("check-backend", "tests.wrong_engines:correct")
    assert (0, True) == (done.returncode, "keeps the contract. What comes next:" in done.stdout), done


@pytest.mark.parametrize(
    ("name", "code", "said"),
    [
        ("tests.conformance.broken_adapters:BreaksOnLeaves", 1, "run raises"),
        ("tests.wrong_engines:aborts_as_paddle", 1, "its process died of what the contract asks"),
        ("nowhere", 2, "backend 'nowhere' is unknown"),
    ],
)
def test_an_adapter_that_is_not_is_told_why(name: str, code: int, said: str) -> None:
    done = conformance("check-backend", name)
    assert (code, True) == (done.returncode, said in done.stdout + done.stderr), done


class Started:
    """An engine of which little is written yet."""

    leaf = apply = look = grad_of = category = detach = grad = no_grad = recording = None


LEFT = {f"step:{kind}": "later" for kind in ("in_place", "custom", "backward", "clear_grad", "retain_grad", "toggle")}


def test_a_method_that_an_engine_lacks_is_named_with_the_word_that_excuses_it() -> None:
    with pytest.raises(TypeError, match=r"Started has no method hook, remove_hook, edge; .*put step:hook, step:remove_hook, step:edge"):
        Interpreter(BackendInfo("started", "1", TORCH, LEFT), Started())  # type: ignore[arg-type]  # that is what is wrong with it


def test_an_engine_that_says_what_it_has_not_needs_no_method_for_it() -> None:
    words = {**LEFT, **dict.fromkeys(("step:hook", "step:remove_hook", "step:edge"), "later")}
    assert "started" == Interpreter(BackendInfo("started", "1", TORCH, words), Started()).info.name  # type: ignore[arg-type]


def test_no_engine_goes_without_looking() -> None:
    with pytest.raises(TypeError, match="object has no method leaf, look, grad_of, category, which every engine needs"):
        Interpreter(BackendInfo("nothing", "1", TORCH), object())  # type: ignore[arg-type]
