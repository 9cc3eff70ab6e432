"""Crashes have a signature too: an entry excuses those that end in its frame, and no others under the same condition."""

from __future__ import annotations

import os
import re
import signal
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from conformance.campaign.records.files import Writer, read_chunk
from conformance.campaign.records.fingerprint import fingerprint_of
from conformance.campaign.records.verdicts import MismatchRecord, VerdictRecord
from conformance.campaign.workers.chunk import Death, chunk_of
from conformance.campaign.workers.last_words import frame_of, has_said_all, words_in
from conformance.campaign.workers.nursery import GLANCE
from conformance.campaign.workers.pool import Workers
from conformance.campaign.workers.supervisor import MOST_KILLED, Passage, after_death, cut_short, supervised
from conformance.campaign.workers.trial import run_case
from conformance.campaign.workers.worker import run_chunk
from conformance.case.case import Case, Input
from conformance.case.files import read
from conformance.case.place import END, recorded
from conformance.case.steps import Backward, Op
from conformance.cli.gate import stale
from conformance.compare.mismatch import Mismatch
from conformance.deviations.entries import known
from conformance.deviations.findings import evidence
from conformance.deviations.frames import DAMAGED, is_in
from conformance.judge.verdict import Bucket
from conformance.laws.judging import Judging, Sampling
from tests.conformance.engines import INFO, ROOT
from tests.conformance.test_records import FAILED
from tests.wrong_engines import Posing

if TYPE_CHECKING:
    from conformance.campaign.workers.chunk import Chunk

NATIVE = """


--------------------------------------
C++ Traceback (most recent call last):
--------------------------------------
0   egr::Grad(std::vector<paddle::Tensor, std::allocator<paddle::Tensor> > const&, bool)
1   AssignGradNode::operator()(paddle::small_vector<std::vector<paddle::Tensor>, 15u>&, bool, bool)
2   void phi::TopkGradKernel<float, phi::CPUContext>(phi::CPUContext const&, phi::DenseTensor*)
3   paddle::Tensor::operator=(paddle::Tensor const&) &

----------------------
Error Message Summary:
----------------------
FatalError: `Segmentation fault` is detected by the operating system.
  [SignalInfo: *** SIGSEGV (@0x8) received by PID 21045 (TID 0x7f2f35611b80) from PID 8 ***]
"""
PYTHON = """Fatal Python error: Segmentation fault

Current thread 0x00007f73aaa07b80 (most recent call first):
  File "lib/torch/_tensor.py", line 697 in register_hook
  File "conformance/backends/torch.py", line 139 in hook
  File "conformance/backends/interpreter.py", line 222 in _perform
  File "conformance/backends/interpreter.py", line 165 in _observe
"""


@pytest.mark.parametrize(
    ("words", "exit_code", "frame"),
    [
        (NATIVE, -11, "SIGSEGV in egr::Grad > AssignGradNode::operator() > phi::TopkGradKernel > paddle::Tensor::operator="),
        (PYTHON, -11, "SIGSEGV in torch/_tensor.py register_hook < backends/torch.py hook < backends/interpreter.py _perform"),
        (PYTHON + NATIVE, -6, "SIGABRT in egr::Grad > AssignGradNode::operator() > phi::TopkGradKernel > paddle::Tensor::operator="),
        ("free(): invalid size\nwarnings\n", -6, "SIGABRT (free(): invalid size)"),
        ("Fatal glibc error: malloc assertion failure\n", -6, "SIGABRT (Fatal glibc error: malloc assertion failure)"),
        ("", -9, "SIGKILL"),
        ("I1122 pir_interpreter.cc:1529] New Executor is Running ...", 3, "exit code 3"),
        ("", None, "exit code None"),
    ],
    ids=["native", "python", "native before python", "heap", "heap of glibc", "nothing", "exit", "unknown"],
)
def test_the_frame_of_a_death_is_read_from_what_was_printed(words: str, exit_code: int | None, frame: str) -> None:
    assert frame_of(words, exit_code) == frame


def test_a_process_that_printed_nothing_has_no_last_words(tmp_path: Path) -> None:
    assert words_in(tmp_path / "absent") == ""


def dying(frame: str) -> VerdictRecord:
    """Make the record of a crash."""
    found = MismatchRecord(recorded(END), "end", "crash", "step", "computed", "crashed", frame)
    return VerdictRecord(Bucket.CRASHED, {}, mismatch=found)


def test_two_crashes_in_different_frames_are_two_failures() -> None:
    assert len({fingerprint_of("paddle", dying(frame)) for frame in ("SIGSEGV in a", "SIGSEGV in b", "SIGSEGV in a")}) == 2


@pytest.mark.parametrize(
    "entry", [e for e in known() if e.frame and not e.unpredictable and "error" not in e.kinds], ids=lambda e: e.id
)
@pytest.mark.parametrize("frame", ["SIGSEGV in tests/wrong_engines.py run", "SIGKILL", "SIGABRT"])
def test_an_entry_with_a_frame_excuses_no_crash_elsewhere(entry: Any, frame: str) -> None:
    info = type(INFO)(entry.backend, entry.versions.removeprefix("==").replace("*", "0"), INFO.dialect)
    found = Mismatch(END, "crash", "step", "computed", "crashed", f"the process died: {frame}")
    assert not entry.matches(info, read(evidence(entry.finding)), found)


@pytest.mark.parametrize(
    "finding",
    ["paddle-custom-none-crash", "paddle-custom-walked-again-crash", "paddle-lone-gradient-crash", "paddle-meshgrid-constant"],
)
def test_a_death_of_which_python_alone_is_known_is_not_that_in_a_kernel(finding: str) -> None:
    (entry,) = (one for one in known() if one.id == finding)
    assert not is_in(entry.frame, "the process died: SIGSEGV in dygraph/base.py grad < base/framework.py __impl__")


PROGRAM = "paddle::framework::PirInterpreter::RunInstructionBase > paddle::framework::PhiKernelInstruction::Run"


@pytest.mark.parametrize(
    "entry",
    [e for e in known() if e.backend == "paddle-static" and "crash" in e.kinds and not e.unpredictable],
    ids=lambda e: e.id,
)
@pytest.mark.parametrize(
    "frame",
    [
        f"{PROGRAM} > phi::KernelImpl::KernelCallHelper::Compute > phi::SinGradKernel",
        "paddle::dialect::VjpInterface::Model::Vjp > paddle::dialect::SinGradOp::Vjp",
        "base/executor.py run < base/executor.py _run_pir_impl < base/executor.py run",
        "autograd/ir_backward.py append_backward_ops < autograd/ir_backward.py calc_gradient_helper",
    ],
    ids=["kernel", "rule", "run", "build"],
)
def test_a_program_that_dies_in_another_kernel_or_rule_or_without_saying_in_which_is_not_excused(entry: Any, frame: str) -> None:
    assert not is_in(entry.frame, f"the process died: SIGSEGV in {frame}")


@pytest.mark.parametrize("entry", [e for e in known() if e.frame and e.unpredictable and "crash" in e.kinds], ids=lambda e: e.id)
@pytest.mark.parametrize("frame", ["SIGSEGV in tests/wrong_engines.py run", "SIGKILL"])
def test_an_entry_of_damaged_memory_excuses_no_death_outside_of_its_framework(entry: Any, frame: str) -> None:
    assert not is_in(entry.frame, f"the process died: {frame}")


@pytest.mark.parametrize(
    "frame",
    [
        "SIGSEGV in egr::Backward > phi::AddGradKernel",
        "SIGABRT (corrupted size vs. prev_size)",
        "SIGSEGV in backends/dumped.py read_dot < backends/dumped.py events_of < backends/interpreter.py _backward",
        "SIGSEGV in dygraph/base.py grad < paddle/engine.py grad",
        "SIGSEGV in <string> <lambda> < backends/calls.py apply",
        "SIGSEGV in primitives/arithmetic.py <lambda> < compare/shadow_values.py _size < compare/shadow_values.py _apply",
        "SIGSEGV in ",
    ],
)
def test_of_damaged_memory_a_process_dies_in_the_framework_the_c_library_or_python(frame: str) -> None:
    assert is_in(DAMAGED, f"the process died: {frame}")


def test_of_damaged_memory_a_process_may_die_in_every_layer_of_a_campaign() -> None:
    campaign = ROOT / "conformance" / "campaign"
    layers = {path.parent.name for path in campaign.rglob("*.py")}
    assert layers == {layer for layer in layers if is_in(DAMAGED, f"the process died: SIGSEGV in {layer}/examination.py _note")}


def verdict_on(engine: str, case: Case, folder: Path) -> VerdictRecord:
    """Run a case that takes the process down in a worker, and return the verdict."""
    with Workers((engine,), 1) as workers:
        ((record,),) = workers.run([chunk_of([case], (engine,), folder)])
    (verdict,) = record.verdicts.values()
    return verdict


def where(verdict: VerdictRecord) -> tuple[str, str | None, str]:
    """Return the bucket, the known deviation, and the innermost frame."""
    assert verdict.mismatch is not None
    return verdict.bucket, verdict.deviation, verdict.mismatch.detail.partition(" < ")[0]


CRASHES = ["paddle-no-grad-vars-crash", "paddle-double-crash", "paddle-custom-walked-again-crash"]


@pytest.mark.parametrize("finding", CRASHES)
def test_a_process_that_dies_elsewhere_under_the_condition_of_an_entry_is_not_excused(finding: str, tmp_path: Path) -> None:
    verdict = verdict_on("tests.wrong_engines:aborts_as_paddle", read(evidence(finding)), tmp_path)
    assert where(verdict) == ("crashed", None, "the process died: SIGABRT in tests/wrong_engines.py run")


@pytest.mark.parametrize(("engine", "frame"), [("faults", "SIGSEGV in tests/wrong_engines.py <lambda>"), ("vanishes", "SIGKILL")])
def test_a_signal_alone_is_no_frame_of_a_framework(engine: str, frame: str, tmp_path: Path) -> None:
    verdict = verdict_on(f"tests.wrong_engines:{engine}_as_paddle", read(evidence(CRASHES[0])), tmp_path)
    assert where(verdict) == ("crashed", None, f"the process died: {frame}")


@pytest.mark.frameworks
@pytest.mark.parametrize("finding", [*CRASHES, "torch-hook-on-rewritten-view"])
def test_a_framework_that_dies_where_the_entry_says_is_a_known_deviation(finding: str, tmp_path: Path) -> None:
    verdict = verdict_on(finding.partition("-")[0], read(evidence(finding)), tmp_path)
    assert ("known_deviation", finding) == where(verdict)[:2]


SINE = Case((Input("x", (), (1.0,)),), (Op("sin", ("x",), ("y",)), Backward(("y",))))


@pytest.mark.parametrize("engine", ["hangs_on_sin", "spins_on_sin"])
def test_what_hangs_has_a_frame_too(engine: str, tmp_path: Path) -> None:
    chunk = chunk_of([SINE], (f"tests.wrong_engines:{engine}",), tmp_path, Judging(timeout=0.2))
    with Workers(chunk.backends, 1) as workers:
        ((record,),) = workers.run([chunk])
    (verdict,) = record.verdicts.values()
    assert verdict.mismatch is not None
    assert verdict.bucket == "timed_out"
    assert re.search(r"SIG(ALRM|PROF) in \S+", verdict.mismatch.detail)


@pytest.mark.parametrize("engine", ["endlessly_judged", "endlessly_paired"])
def test_where_this_suite_never_comes_back_the_engine_does_not_hang(engine: str, tmp_path: Path) -> None:
    chunk = chunk_of([SINE], (f"tests.wrong_engines:{engine}",), tmp_path, Judging(timeout=0.2, nulls=Sampling.EVERY))
    with Workers(chunk.backends, 1) as workers:
        ((record,),) = workers.run([chunk])
    assert ["harness_error"] == [verdict.bucket for verdict in record.verdicts.values()]


@pytest.mark.parametrize(("engine", "bucket"), [("slow_on_sin", "agreed"), ("spins_on_sin", "timed_out")])
def test_a_case_that_takes_long_is_set_aside_and_gets_all_its_time_at_the_end(engine: str, bucket: str, tmp_path: Path) -> None:
    cosine = Case(SINE.inputs, (Op("cos", ("x",), ("y",)), Backward(("y",))))
    chunk = replace(chunk_of([SINE, cosine], (f"tests.wrong_engines:{engine}",), tmp_path, Judging(timeout=2.0)), patience=0.1)
    with Workers(chunk.backends, 1) as workers:
        ended = [[(r.index, v.bucket) for r in records for v in r.verdicts.values()] for records in workers.run([chunk])]
        assert ([[(1, "agreed")], [(0, bucket)]], 1) == (ended, workers.ended["set aside"])


def test_a_case_that_was_set_aside_is_not_lost_with_the_worker_that_did(tmp_path: Path) -> None:
    chunk = replace(chunk_of([SINE] * 4, ("reference",), tmp_path), patience=0.1)
    chunk.progress.write_text("3 reference")
    with Writer(chunk.records) as writer:
        writer.write(msgspec.structs.replace(FAILED, index=0))
        writer.write(msgspec.structs.replace(FAILED, index=2))
    passage = cut_short(chunk, -9)
    assert passage.left is not None
    assert ((1,), 3, {3: 1}, ()) == (passage.aside, passage.left.start, passage.left.deaths, passage.left.set_aside)


def test_no_case_is_blamed_for_a_worker_that_was_killed_while_it_was_warmed_up_unless_it_is_each_time(tmp_path: Path) -> None:
    chunk = chunk_of([SINE] * 4, ("reference",), tmp_path)
    for _ in range(MOST_KILLED):
        left = cut_short(chunk, -9).left
        assert left is not None
        assert (0, {}) == (left.start, left.fatal_backends)
        chunk = left
    last = cut_short(chunk, -9).left
    assert last is not None
    assert {0} == set(last.fatal_backends)


def test_what_was_recorded_before_a_worker_was_killed_between_two_cases_is_not_run_again(tmp_path: Path) -> None:
    chunk = chunk_of([SINE] * 3, ("reference",), tmp_path)
    run_chunk(replace(chunk, stop=2))
    left = cut_short(chunk, -9).left
    assert left is not None
    assert (2, {}) == (left.start, left.fatal_backends)


def test_a_chunk_whose_worker_was_killed_behind_the_last_case_is_done(tmp_path: Path) -> None:
    chunk = chunk_of([SINE] * 3, ("reference",), tmp_path)
    run_chunk(chunk)
    assert Passage() == cut_short(chunk, -9)


HARMLESS = Case((Input("x", (), (1.0,)),), (Op("neg", ("x",), ("y",)),))


def first_death(frame: str, engine: Posing) -> VerdictRecord:
    """Return the verdict on a case after a first death in a frame, which another case may have caused."""
    death = Death(Bucket.CRASHED, "", frame, own=False)
    return run_case(read(evidence("paddle-meshgrid-constant")), [engine], fatal_backends={"paddle": death}).verdicts["paddle"]


def test_a_death_that_is_known_to_its_native_frame_is_not_died_again() -> None:
    verdict = first_death("SIGSEGV in egr::Grad > MeshgridGradNode::operator() > paddle::experimental::meshgrid_grad", Posing(os.abort))
    assert verdict.deviation == "paddle-meshgrid-constant"


@pytest.mark.parametrize("frame", ["SIGSEGV in egr::Grad > phi::Other", "SIGSEGV in dygraph/base.py grad"], ids=["another", "none"])
def test_a_death_of_another_native_frame_or_of_none_may_be_that_of_a_case_before(frame: str) -> None:
    verdict = first_death(frame, Posing(lambda: None))
    assert verdict.mismatch is None or verdict.mismatch.kind != "crash"


def test_a_death_that_nobody_knows_is_its_own_where_the_case_dies_again(tmp_path: Path) -> None:
    chunk = chunk_of([HARMLESS, SINE], ("tests.wrong_engines:dies_on_sin",), tmp_path)
    with Workers(chunk.backends, 1) as workers:
        (records,) = workers.run([chunk])
        assert (["nothing_compared", "crashed"], 2) == (
            [v.bucket for r in records for v in r.verdicts.values()],
            workers.ended["crashed"],
        )


@pytest.mark.parametrize(("law", "fatal"), [("linear-seed", ["paddle"]), ("", ["torch", "paddle"])], ids=["a law", "the case"])
def test_a_case_that_dies_where_the_cases_of_a_deadly_law_are_made_is_no_crash_of_another_backend(
    law: str, fatal: list[str], tmp_path: Path
) -> None:
    died = Death(Bucket.CRASHED, law, "SIGSEGV")
    chunk = replace(chunk_of([SINE], ("torch", "paddle"), tmp_path), fatal_backends={0: {"paddle": died}})
    chunk.progress.write_text("0 paddle")
    assert fatal == [*after_death(chunk, -signal.SIGSEGV).fatal_backends[0]]


@pytest.mark.parametrize("exit_code", [-14, None], ids=["alarm", "ended"])
def test_a_stack_that_hangs_while_it_is_printed_is_a_crash(exit_code: int | None) -> None:
    assert frame_of(PYTHON, exit_code).startswith("SIGSEGV in ")


def test_what_hangs_after_its_last_words_is_no_hang(tmp_path: Path) -> None:
    verdict = verdict_on("tests.wrong_engines:never_ends_its_last_words", SINE, tmp_path)
    assert where(verdict) == ("crashed", None, "the process died: SIGSEGV in tests/wrong_engines.py _never_ends_its_last_words")


@pytest.mark.frameworks
def test_the_gate_asks_where_the_case_of_a_crash_dies() -> None:
    entry = next(e for e in known() if e.id == "paddle-no-grad-vars-crash")
    with Workers(("paddle",), 1) as workers:
        shows, stales = (stale([e], workers) for e in (entry, msgspec.structs.replace(entry, id="another")))
    ended = f"known_deviation ({entry.id})"  # a damaged heap may let it die without a frame in between
    assert ({}, ["another"], True) == (shows, [e.id for e in stales], all(ended in str(ending) for ending in stales.values()))


@pytest.mark.parametrize(("words", "said"), [(PYTHON, False), (NATIVE, True)], ids=["python", "native"])
def test_a_process_has_said_all_when_its_native_stack_is_printed(words: str, said: bool, tmp_path: Path) -> None:
    (tmp_path / "words").write_text(words)
    assert has_said_all(tmp_path / "words") is said


def test_the_last_words_of_one_child_do_not_end_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def late(chunk: Chunk) -> Any:
        until = time.monotonic() + 5 * GLANCE
        while time.monotonic() < until:
            pass
        return run_chunk(chunk)

    monkeypatch.setattr("conformance.campaign.workers.supervisor.run_chunk", late)
    chunk = chunk_of([HARMLESS], ("reference",), tmp_path)
    chunk.words.write_text(NATIVE)
    chunk.progress.write_text("0 reference")
    assert {"done": 1} == supervised(chunk).ended


class Leaving(type(Path())):  # type: ignore[misc]  # which of two classes it is, the system decides
    """The path of a file that was there a moment ago."""

    def exists(self) -> bool:
        """Return what was true then."""
        return True


def test_words_that_are_gone_when_they_are_read_are_none(tmp_path: Path) -> None:
    assert words_in(Leaving(tmp_path / "words")) == ""


def test_a_child_that_never_gets_done_with_tidying_up_costs_no_case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def lingering(chunk: Chunk) -> None:
        run_chunk(chunk)
        signal.pause()

    monkeypatch.setattr("conformance.campaign.workers.supervisor.run_chunk", lingering)
    chunk = chunk_of([Case((Input("x", (), (1.0,)),), (Op("neg", ("x",), ("y",)),))], ("reference",), tmp_path)
    assert ((), 1) == (supervised(chunk).aside, len(read_chunk(chunk.records)))
