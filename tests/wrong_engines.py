"""Engines for tests of the suite that are no mutants: right ones, and such as damage the process that they run in.

Mutants, engines with one fault, are in `conformance.mutants`. Use one of these on the command line as
``--backends tests.wrong_engines:dies_on_sin``.
"""

from __future__ import annotations

import faulthandler
import os
import signal
import threading
import time
from collections import Counter
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conformance.backends import BackendInfo
from conformance.backends.reference import ReferenceEngine
from conformance.campaign.workers import chunk, trial
from conformance.case.outcome import Raised
from conformance.case.steps import Op, results
from conformance.generate.scripts import case_of
from conformance.judge import judgement
from conformance.judge.canary import canary_of
from conformance.mutants.mutant import Breaks, WrongEngine, patch
from conformance.mutants.wrong_rule import rule_fault
from conformance.ops import catalogue
from reference_impl import OPS, PADDLE, PADDLE_STATIC, AutogradError, Category
from reference_impl.reverse.walk import ReversePass
from reference_impl.tape.primitive import Primitive

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conformance.case.case import Case, Input
    from conformance.case.outcome import Outcome
    from conformance.generate.scripts import DrawOptions
    from conformance.mutants.mutant import Fault
    from reference_impl import Tensor
    from reference_impl.tape.tensor import Node

_leaf = ReferenceEngine.leaf
_apply = ReferenceEngine.apply
_arrive, _pulled = ReversePass._arrive, ReversePass._pulled
_hoard: list[Tensor] = []
EVERY = 50


def _spin(seconds: float = float("inf")) -> None:
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass


def _with_a_thread(adapter: ReferenceEngine, step: Op, operands: list[Tensor]) -> tuple[Tensor, ...]:
    if threading.active_count() == 1:
        threading.Thread(target=threading.Event().wait, daemon=True).start()
    return _apply(adapter, step, operands)


class Damaging(WrongEngine):
    """Right, but that it does something to its process before it runs a case that uses ``sin``."""

    def __init__(self, name: str, damage: Callable[[], object]) -> None:
        super().__init__(name)
        self.damage = damage

    def run(self, case: Case) -> Outcome:
        """Do the damage, and then run the case."""
        if any(isinstance(step, Op) and step.op == "sin" for step in case.steps):
            self.damage()
        return super().run(case)


def _kept(adapter: ReferenceEngine, entry: Input) -> Tensor:
    _hoard.append(_leaf(adapter, entry))
    return _hoard[-1]


def _negated(right: Any, *given: Any) -> Any:
    return OPS["neg"](right(*given))


def _flipped(*ops: str) -> Fault:
    """Give the first operand of these ops a gradient of the wrong sign."""

    @contextmanager
    def fault() -> Iterator[None]:
        with ExitStack() as stack:
            for op in ops:
                stack.enter_context(rule_fault(op, 0, _negated)())
            yield

    return fault


def _off_by_a_thousandth(right: Any, *given: Any) -> Any:
    return OPS["add_scalar"](right(*given), other=1e-3)


def adds_to_the_gradient_of_exp() -> WrongEngine:
    """Open an engine whose gradient of ``exp`` is 0.001 too large: beyond all rounding where it is small, hardly where it is large."""
    return WrongEngine("adds_to_the_gradient_of_exp", rule_fault("exp", 0, _off_by_a_thousandth))


def five_wrong_rules() -> WrongEngine:
    """Open an engine with five wrong rules at once."""
    return WrongEngine("five_wrong_rules", _flipped("tanh", "sigmoid", "exp", "sin", "log"))


def _refuses_float32(adapter: ReferenceEngine, step: Op, operands: list[Tensor]) -> tuple[Tensor, ...]:
    if any(operand.requires_grad and operand.dtype == "float32" for operand in operands):
        raise AutogradError(Category.NOT_DIFFERENTIABLE, f"{step.op} takes no float32 that requires a gradient")
    return _apply(adapter, step, operands)


def refuses_float32() -> WrongEngine:
    """Open an engine all of whose ops refuse what is of single precision and requires a gradient."""
    return WrongEngine("refuses_float32", patch((ReferenceEngine, "apply", _refuses_float32)))


MANY = 100


def _loses_one(self: ReversePass, tensor: Tensor, cotangent: Any) -> None:
    arrived = self.__dict__.setdefault("arrived", Counter())
    arrived[tensor] += 1
    if arrived[tensor] != MANY:
        _arrive(self, tensor, cotangent)


def loses_one_contribution() -> WrongEngine:
    """Open an engine that adds up any number of contributions to a gradient, but for the hundredth."""
    return WrongEngine("loses_one_contribution", patch((ReversePass, "_arrive", _loses_one)))


def _turns_over(self: ReversePass, node: Node, slots: list[Any]) -> list[tuple[int, Any]]:
    pulled = _pulled(self, node, slots)
    self.__dict__["ran"] = self.__dict__.get("ran", 0) + 1
    return [(position, OPS["neg"](c)) for position, c in pulled] if self.__dict__["ran"] == MANY else pulled


def wrong_behind_many_nodes() -> WrongEngine:
    """Open an engine whose pass is right for some nodes, and turns over what the hundredth hands on."""
    return WrongEngine("wrong_behind_many_nodes", patch((ReversePass, "_pulled", _turns_over)))


def breaks_exp_after_a_refusal() -> WrongEngine:
    """Open an engine that differentiates ``exp``, and nothing else, wrongly once something was refused."""
    return Breaks("breaks_exp_after_a_refusal", _flipped("exp"))


class Mortal(WrongEngine):
    """Takes its process down with ``exp``, once something was refused."""

    refused = False

    def run(self, case: Case) -> Outcome:
        """Run a case, if it can still be run."""
        if self.refused and any(isinstance(step, Op) and step.op == "exp" for step in case.steps):
            os.abort()
        outcome = super().run(case)
        self.refused |= any(isinstance(seen, Raised) for seen in outcome.observations)
        return outcome


def dies_on_exp_after_a_refusal() -> WrongEngine:
    """Open an engine that a refusal damages so that ``exp`` is its end."""
    return Mortal("dies_on_exp_after_a_refusal")


def breaks_reductions_after_a_refusal() -> WrongEngine:
    """Open an engine that differentiates reductions, and nothing else, wrongly once something was refused."""
    reductions = (op.name for op in catalogue().values() if op.family == "reduction" and isinstance(OPS[op.name], Primitive))
    return Breaks("breaks_reductions_after_a_refusal", _flipped(*reductions))


class Remembering(WrongEngine):
    """Differentiates ``sin`` wrongly in every case that comes after one with ``tanh``, as long as the process lives."""

    seen = False

    def run(self, case: Case) -> Outcome:
        """Run a case, and remember whether it had ``tanh``."""
        outcome = super().run(case) if self.seen else self.engine.run(case)
        self.seen |= any(isinstance(step, Op) and step.op == "tanh" for step in case.steps)
        return outcome


def remembers_tanh() -> WrongEngine:
    """Open an engine whose fault needs an earlier case, of an op that no warm-up uses."""
    return Remembering("remembers_tanh", _flipped("sin"))


def correct() -> WrongEngine:
    """Open the reference under another name."""
    return WrongEngine("correct")


def correct_programs() -> WrongEngine:
    """Open the reference's static half under another name."""
    return WrongEngine("correct_programs", dialect=PADDLE_STATIC)


def hoarding() -> WrongEngine:
    """Open an engine that never lets go of a leaf, which no random script asks for."""
    return WrongEngine("hoarding", patch((ReferenceEngine, "leaf", _kept)))


def _never_ends_its_last_words() -> None:
    faulthandler.disable()
    signal.signal(signal.SIGSEGV, lambda *_: _spin())  # as a printer of native stacks does that waits for a lock of a damaged heap
    faulthandler.enable(2)
    os.kill(os.getpid(), signal.SIGSEGV)


def never_ends_its_last_words() -> WrongEngine:
    """Open an engine that says that it dies wherever a case uses ``sin``, and does not come to an end with it."""
    return Damaging("never_ends_its_last_words", _never_ends_its_last_words)


def dies_on_sin() -> WrongEngine:
    """Open an engine that takes its process down wherever a case uses ``sin``."""
    return Damaging("dies_on_sin", os.abort)


class Posing(WrongEngine):
    """Says that it is Paddle, and takes its process down as soon as it is asked to run a case."""

    def __init__(self, damage: Callable[[], object]) -> None:
        super().__init__("paddle", dialect=PADDLE)
        self.info = BackendInfo("paddle", "3.3.0", PADDLE, PADDLE.not_offered)
        self.damage = damage

    def run(self, case: Case) -> Outcome:
        """Do the damage."""
        self.damage()
        return super().run(case)


def aborts_as_paddle() -> WrongEngine:
    """Open an engine that aborts under the name of Paddle."""
    return Posing(os.abort)


def faults_as_paddle() -> WrongEngine:
    """Open an engine that dies of a segmentation fault under the name of Paddle."""
    return Posing(lambda: os.kill(os.getpid(), signal.SIGSEGV))


def vanishes_as_paddle() -> WrongEngine:
    """Open an engine that is killed under the name of Paddle, so that nothing can say where."""
    return Posing(lambda: os.kill(os.getpid(), signal.SIGKILL))


class Lawless(WrongEngine):
    """Takes its process down in the cases of laws, which give their calls names of their own."""

    def run(self, case: Case) -> Outcome:
        """Abort in the case of a law."""
        if any(name.startswith("law_") for step in case.steps for name in results(step)):
            os.abort()
        return super().run(case)


def aborts_in_laws() -> WrongEngine:
    """Open an engine that aborts when a law is tried, and is right otherwise."""
    return Lawless("aborts_in_laws")


def _raise() -> None:
    raise RuntimeError("a fault of the adapter")


def _undrawn(seed: int, index: int, options: DrawOptions) -> Case:
    if index % EVERY == 0:
        raise RuntimeError("a fault of the generator")
    return case_of(seed, index, options)


def raises_on_sin() -> WrongEngine:
    """Open an adapter with a fault of its own: it raises wherever a case uses ``sin``, which no adapter may."""
    return Damaging("raises_on_sin", _raise)


def undrawable() -> WrongEngine:
    """Open the reference, and break the generator of this process: every `EVERY`-th case raises."""
    chunk.case_of = _undrawn
    return WrongEngine("undrawable")


def endlessly_judged() -> WrongEngine:
    """Open a right engine that breaks the judge of its process in a case that uses ``sin``: it never comes back."""
    return Damaging("endlessly_judged", lambda: setattr(judgement, "judge", lambda *_: _spin()))


def endlessly_paired() -> WrongEngine:
    """Open a right engine that breaks the null pairs of its process in a case that uses ``sin``: they are compared for ever."""
    return Damaging("endlessly_paired", lambda: setattr(trial, "compare_nulls", lambda *_, **__: _spin()))


def hangs_on_sin() -> WrongEngine:
    """Open an engine that never comes back from a case that uses ``sin``."""
    return Damaging("hangs_on_sin", threading.Event().wait)


def starts_a_thread() -> WrongEngine:
    """Open a right engine that has a thread as soon as it ran an op, as engines with an executor of their own have."""
    return WrongEngine("starts_a_thread", patch((ReferenceEngine, "apply", _with_a_thread)))


def spins_on_sin() -> WrongEngine:
    """Open an engine that computes for ever in a case that uses ``sin``."""
    return Damaging("spins_on_sin", _spin)


def slow_on_sin() -> WrongEngine:
    """Open a right engine that computes for half a second in a case that uses ``sin``."""
    return Damaging("slow_on_sin", lambda: _spin(0.5))


class Fatal(Damaging):
    """Damaging, but not in a canary, which may be asked by a process that works for another one."""

    def run(self, case: Case) -> Outcome:
        """Do the damage in any other case."""
        return WrongEngine.run(self, case) if case == canary_of("sin") else super().run(case)


def ends_the_machine_on_sin() -> WrongEngine:
    """Open an engine that ends the process for which its nursery works wherever a case uses ``sin``, as a full memory may."""
    return Fatal("ends_the_machine_on_sin", _end_the_machine)


def _end_the_machine() -> None:
    nursery = Path(f"/proc/{os.getppid()}/stat")
    server = Path(f"/proc/{nursery.read_text().rpartition(') ')[2].split()[1]}/stat")
    os.kill(int(server.read_text().rpartition(") ")[2].split()[1]), signal.SIGKILL)
