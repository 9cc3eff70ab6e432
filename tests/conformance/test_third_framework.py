"""A third framework as one folder would have it, in this one module: it is registered by a line, and no other file knows it.

``abacus`` computes on the reference's tape (that its numbers are right is no question here), with an interface that is all its own: its
tensors are `Bead`, it says ``wants`` for ``requires_grad``, ``slope`` for ``.grad``, ``settle`` and ``slopes`` for ``backward`` and
``grad``, and it refuses with messages of its own. With ``ABACUS_FLAW`` in the environment the named op has the derivative 1.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import reference_impl
from conformance.backends import BackendInfo, Registration
from conformance.backends.calls import Calls, Spelling
from conformance.backends.contract import check
from conformance.backends.error_rules import Rule, categorise
from conformance.backends.interpreter import CallbackError, Interpreter, pick
from conformance.backends.repro.eager import eager_script
from conformance.backends.repro.python_text import array_text, list_text
from conformance.case.files import encode
from conformance.case.outcome import Value
from conformance.judge.reproduction import reproduction
from conformance.ops import catalogue
from reference_impl import OPS, TORCH, AutogradError, Category, Tensor
from tests.conformance.door import Done
from tests.conformance.engines import EXACT
from tests.conformance.runs import PATIENCE, start

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.backends.repro.claims import Promised
    from conformance.case.case import Case, Input
    from conformance.case.steps import Backward, Custom, Grad, InPlace, Op

ROOT = Path(__file__).resolve().parents[2]


# The framework.


class StuckError(Exception):
    """What the abacus raises."""


class Bead:
    """A tensor of the abacus."""

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor

    def __mul__(self, factor: float) -> Bead:
        return abacus.mul_scalar(self, other=factor)

    def __str__(self) -> str:
        return f"Bead({self.tensor.array.tolist()})"

    @property
    def wants(self) -> bool:
        return self.tensor.requires_grad

    @wants.setter
    def wants(self, flag: bool) -> None:
        with stuck():
            reference_impl.set_requires_grad(self.tensor, flag, dialect=TORCH)

    @property
    def slope(self) -> Bead | None:
        return wrapped(self.tensor.grad)


def wrapped(made: Any) -> Any:
    """Put tensors into beads, also those of a list."""
    return Bead(made) if isinstance(made, Tensor) else [wrapped(m) for m in made] if isinstance(made, list | tuple) else made


def opened(given: Any) -> Any:
    """Take tensors out of beads, also those of a container."""
    if isinstance(given, list | tuple | set):
        return type(given)(opened(g) for g in given)
    return given.tensor if isinstance(given, Bead) else map(opened, given) if hasattr(given, "__next__") else given


@contextmanager
def stuck() -> Iterator[None]:
    try:
        yield
    except AutogradError as error:
        msg = f"stuck at {error.category.value}: {error}"
        raise StuckError(msg) from None


class Abacus:
    """The module that a user imports: ``abacus.mul(x, y)`` and so on, for every op."""

    def __getattr__(self, op: str) -> Any:
        def call(*operands: Any, **attrs: Any) -> Any:
            tensors = opened(operands[0] if isinstance(operands[0], list) else operands)
            with stuck():
                made = OPS[TORCH.spelled.get(op, op)](*tensors, **attrs)
                if op == os.environ.get("ABACUS_FLAW"):
                    made = OPS["add"](made.detach(), OPS["sub"](tensors[0], tensors[0].detach()))
            return wrapped(made)

        return call

    def bead(self, array: Any, wants: bool = False) -> Bead:
        return Bead(Tensor(array, requires_grad=wants))

    def update(self, op: str, x: Bead, *operands: Bead, **attrs: Any) -> None:
        with stuck():
            reference_impl.update_in_place(OPS[TORCH.spelled.get(op, op)], x.tensor, *opened(operands), dialect=TORCH, **attrs)

    def settle(self, roots: Any, seeds: Any = None, **options: Any) -> None:
        with stuck():
            reference_impl.backward(opened(roots), opened(seeds), dialect=TORCH, **{k: opened(v) for k, v in options.items()})

    def slopes(self, roots: Any, of: Any, seeds: Any = None, **options: Any) -> list[Any]:
        with stuck():
            return list(map(wrapped, reference_impl.grad(opened(roots), opened(of), opened(seeds), dialect=TORCH, **options)))

    def keep(self, bead: Bead) -> None:
        with stuck():
            reference_impl.retain_grad(bead.tensor, dialect=TORCH)

    def edge(self, bead: Bead) -> Any:
        with stuck():
            return reference_impl.gradient_edge(bead.tensor)

    def watch(self, bead: Bead, function: Any) -> Any:
        with stuck():
            return reference_impl.register_hook(bead.tensor, lambda g: opened(function(wrapped(g))))

    def forget(self, bead: Bead, zero: bool = False) -> None:
        if bead.tensor.grad is not None:
            bead.tensor.grad = Tensor(np.zeros_like(bead.tensor.grad.array)) if zero else None

    def detached(self, bead: Bead) -> Bead:
        return Bead(bead.tensor.detach())

    def quiet(self) -> Any:
        return reference_impl.no_grad()

    def records(self) -> bool:
        return reference_impl.recording()

    def function(self, forward: Any, backward: Any, *operands: Bead) -> list[Bead]:
        def both(tensors: Any) -> Any:
            return tuple(opened(part) for part in forward(wrapped(tensors)))

        def pulled(saved: Any, cotangents: Any) -> Any:
            return opened(backward(wrapped(saved), wrapped(cotangents)))

        with stuck():
            return [Bead(t) for t in reference_impl.apply_custom(both, pulled, opened(operands), dialect=TORCH)]


abacus = Abacus()


# Its folder: errors, calls, engine, script, registration.

ERROR_RULES: tuple[Rule, ...] = (
    (CallbackError, "", Category.CALLBACK),
    *((StuckError, f"stuck at {category.value}:", category) for category in Category),
)


def arguments(op: Any) -> str:
    return ", ".join([*op.operands, *(f"{name}={name}" for name in op.attrs)])


SPELLING = Spelling(
    "abacus",
    own={name: f"abacus.{name}({arguments(op)})" for name, op in catalogue().items()},
    own_in_place={name: f"abacus.update({name!r}, {arguments(op)})" for name, op in catalogue().items()},
)
CALLS = Calls(SPELLING, abacus)
NOT_OFFERED = {**TORCH.not_offered, "step:drop": "a bead holds its tensor, not the other way round"}


def open_backend() -> Interpreter:
    return Interpreter(BackendInfo("abacus", "1.0", TORCH, NOT_OFFERED), AbacusEngine())


class AbacusEngine:
    """`Engine` over beads."""

    def leaf(self, entry: Input) -> Bead:
        return abacus.bead(entry.array(), entry.differentiable)

    def apply(self, step: Op, operands: list[Bead]) -> tuple[Bead, ...]:
        return CALLS.apply(step.op, operands, step.attrs)

    def in_place(self, step: InPlace, tensor: Bead, operands: list[Bead]) -> None:
        CALLS.change(step.op, tensor, operands, step.attrs)

    def custom(self, forward: Any, backward: Any, operands: list[Bead]) -> tuple[Bead, ...]:
        return tuple(abacus.function(forward, backward, *operands))

    def backward(self, step: Backward, values: dict[str, Any], dump: str | None) -> None:  # noqa: ARG002 - not offered
        lists = {name: pick(values, getattr(step, name), step.form) for name in ("inputs", "grad_variables")}
        retain = {} if step.retain_graph is None else {"retain_graph": step.retain_graph}
        roots, seeds = pick(values, step.tensors, step.form), pick(values, step.grad_tensors, step.form)
        abacus.settle(roots, seeds, create_graph=step.create_graph, **lists, **retain)

    def grad(self, step: Grad, values: dict[str, Any]) -> list[Any]:
        roots, of, seeds = (pick(values, names, step.form) for names in (step.outputs, step.inputs, step.grad_outputs))
        unused = {} if step.allow_unused is None else {"allow_unused": step.allow_unused}
        flags = ("retain_graph", "create_graph", "only_inputs", "materialize_grads", "is_grads_batched")
        return abacus.slopes(roots, of, seeds, **{name: getattr(step, name) for name in flags}, **unused)

    def clear_grad(self, tensor: Bead, to: str) -> None:
        abacus.forget(tensor, zero=to == "zero")

    def detach(self, tensor: Bead) -> Bead:
        return abacus.detached(tensor)

    def retain_grad(self, tensor: Bead) -> None:
        abacus.keep(tensor)

    def toggle(self, tensor: Bead, requires_grad: bool) -> None:
        tensor.wants = requires_grad

    def hook(self, tensor: Bead, function: Any) -> Any:
        return abacus.watch(tensor, function)

    def remove_hook(self, handle: Any) -> None:
        handle.remove()

    def edge(self, tensor: Bead) -> Any:
        return abacus.edge(tensor)

    def recording(self) -> bool:
        return reference_impl.recording()

    def grad_of(self, tensor: Bead) -> Bead | None:
        return tensor.slope

    def look(self, tensor: Bead) -> Value:
        return Value(np.asarray(tensor.tensor.array), tensor.wants)

    def no_grad(self) -> Any:
        return abacus.quiet()

    def category(self, error: Exception) -> Category:
        return categorise(error, ERROR_RULES)


class AbacusPrinter:
    """`Printer` in the words of the abacus."""

    title = "abacus"
    imports = f"from {__name__} import abacus"
    no_grad = "abacus.quiet()"
    recording = "abacus.records()"
    another_dtype = "abacus.cast(g, dtype='float64')"
    spelling = SPELLING

    def leaf(self, entry: Input) -> str:
        return f"abacus.bead({array_text(entry)}, {entry.differentiable})"

    def backward(self, step: Backward) -> str:
        return f"abacus.settle({list_text(step.tensors)}, {list_text(step.seeds)}, create_graph={step.create_graph})"

    def grad(self, step: Grad) -> str:
        lists = ", ".join(map(list_text, (step.outputs, step.inputs, step.grad_outputs)))
        return f"abacus.slopes({lists}, retain_graph={step.retain_graph}, create_graph={step.create_graph}, allow_unused=True)"

    def custom(self, step: Custom, seen: Sequence[str]) -> list[str]:
        return [f"raise NotImplementedError('write {', '.join(step.results)} by hand: abacus.function, and then {seen}')"]

    def clear_grad(self, tensor: str, to: str) -> str:
        return f"abacus.forget({tensor}, zero={to == 'zero'})"

    def detach(self, tensor: str) -> str:
        return f"abacus.detached({tensor})"

    def retain_grad(self, tensor: str) -> str:
        return f"abacus.keep({tensor})"

    def toggle(self, tensor: str, requires_grad: bool) -> str:
        return f"{tensor}.wants = {requires_grad}"

    def hook(self, tensor: str, function: str) -> str:
        return f"abacus.watch({tensor}, {function})"

    def remove_hook(self, handle: str) -> str:
        return f"{handle}.remove()"

    def edge(self, tensor: str, name: str) -> str:
        return f"{name} = abacus.edge({tensor})"

    def grad_of(self, tensor: str) -> str:
        return f"{tensor}.slope"

    def array(self, tensor: str) -> str:
        return f"np.array({tensor}.tensor.array)"

    def flag(self, tensor: str, requires_grad: bool) -> str:
        return f"{tensor}.wants is {requires_grad}"


def script(case: Case, promised: Promised) -> str:
    return eager_script(case, AbacusPrinter(), promised)


REGISTRATION = Registration(opens=f"{__name__}:open_backend", title="Abacus", script=f"{__name__}:script", dialect=TORCH, votes=True)
LINE = f"abacus = {__name__}"


# What it is good for.


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Install the line that registers it, as a package that comes with an entry point would."""
    site = tmp_path_factory.mktemp("site")
    facts = site / "abacus-1.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: abacus\nVersion: 1.0\n")
    (facts / "entry_points.txt").write_text(f"[autograd_conformance.backends]\n{LINE}\n")
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(site), str(ROOT)])}


def conformance(environment: dict[str, str], *arguments: object) -> Done:
    process = start(*arguments, env=environment)
    out, err = process.communicate(PATIENCE)
    return Done(process.returncode, out, err)


def records_of(out: Path, kind: str) -> list[dict[str, Any]]:
    lines = (out / "run.ndjson").read_text().splitlines()
    return [record for record in map(json.loads, lines) if record["kind"] == kind]


def test_no_other_file_knows_the_framework() -> None:
    files = [path for folder in ("conformance", "reference_impl") for path in (ROOT / folder).rglob("*.py")]
    assert not [path for path in files if "abacus" in path.read_text().lower()]


def test_it_keeps_the_contract_of_backends() -> None:
    assert [] == check(open_backend)


def test_it_is_opened_by_name_and_listed(environment: dict[str, str]) -> None:
    listed = json.loads(conformance(environment, "backends", "--json").stdout)
    (found,) = [row for row in listed if row["name"] == "abacus"]
    facts = {"name": "abacus", "version": "1.0", "dialect": "torch", "not_offered": NOT_OFFERED}
    assert found.pop("conventions").startswith("torch 2.13.0 ")
    assert found.pop("orders")["mul"] == 3
    assert {**facts, "cpu": "", "title": "", "repeatable": "bitwise"} == found


def test_drawn_cases_agree_on_it(environment: dict[str, str], tmp_path: Path) -> None:
    done = conformance(environment, "run", "--backends", "abacus", "--cases", 200, "--out", tmp_path)
    buckets = Counter(record["verdicts"]["abacus"]["bucket"] for record in records_of(tmp_path, "case"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert buckets["agreed"] > 150


@pytest.fixture(scope="module")
def findings(environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """Run a campaign on an abacus that has a flaw, and return what was found."""
    out = tmp_path_factory.mktemp("flawed")
    flawed = {**environment, "ABACUS_FLAW": "sin"}
    done = conformance(flawed, "run", "--backends", "abacus", "--cases", 60, "--ops", "sin,mul,add", "--out", out)
    assert done.returncode == 1, done.stdout + done.stderr
    return records_of(out, "finding")


def test_a_flaw_of_it_is_found(findings: list[dict[str, Any]]) -> None:
    assert {"abacus"} == {found["backend"] for found in findings}


def test_a_finding_is_printed_by_its_own_printer(findings: list[dict[str, Any]]) -> None:
    assert not [found["script"] for found in findings if AbacusPrinter.imports not in found["script"].splitlines()]


@pytest.mark.parametrize(("flaw", "status"), [("sin", 1), ("", 0)])
def test_the_printed_script_says_whether_the_flaw_is_there(
    environment: dict[str, str], findings: list[dict[str, Any]], flaw: str, status: int
) -> None:
    command = [sys.executable, "-c", findings[0]["script"]]
    done = subprocess.run(command, env={**environment, "ABACUS_FLAW": flaw}, capture_output=True, text=True, check=False)
    assert (status, bool(flaw)) == (done.returncode, "AssertionError" in done.stderr), done.stderr
    assert "Bead(" in done.stdout


def test_it_is_printed_for_on_the_command_line(environment: dict[str, str], tmp_path: Path) -> None:
    path = tmp_path / "case.json"
    path.write_text(encode(EXACT))
    assert reproduction(EXACT, LINE.partition(" = ")[2]) == conformance(environment, "repro", path, "--backend", "abacus").stdout


def test_it_votes_on_the_findings_of_others(environment: dict[str, str], tmp_path: Path) -> None:
    wrong = "conformance.mutants.engines:mul-x-wrong_operand"
    conformance(environment, "run", "--backends", wrong, "--cases", 10, "--ops", "mul,add", "--out", tmp_path)
    votes = [vote for found in records_of(tmp_path, "finding") for vote in found["blame"]["votes"] if vote["voter"] == "abacus"]
    assert {("wrong", "right")} >= {(vote["accused"], vote["reference"]) for vote in votes if vote["accused"] != "cannot tell"}
    assert votes
