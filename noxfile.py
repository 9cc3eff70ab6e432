"""The project's jobs. CI runs nothing else.

Sessions that need the frameworks (2 GB) share one environment, .nox/frameworks. Plain pip makes it, from whatever wheels pip is
configured to find (CPU-only ones, a mirror); it is made again only when what it is made of has changed.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from pathlib import Path

import nox

nox.needs_version = ">=2025.2.9"
nox.options.default_venv_backend = "virtualenv"

ROOT = Path(__file__).parent
CONSTRAINTS = ROOT / "constraints.txt"
FRAMEWORKS = ROOT / ".nox" / "frameworks"
STAMP = FRAMEWORKS / "installed"
PYPROJECT = nox.project.load_toml(ROOT / "pyproject.toml")
RELEASES = ["paddlepaddle==3.2.2", "paddlepaddle==3.1.1", "paddlepaddle==3.0.0", "torch==2.12.1"]
"""What `matrix` asks beside the pinned releases; the last one takes 5 GB."""
ENGINES = {"hips": 1000, "jax": 1000, "mygrad": 1000, "mygrad_eager": 1000, "tinygrad": 300, "tinygrad_eager": 300, "torch_func": 1000}
"""The engines of the examples, with how many cases each is asked: fewer where one takes half a second."""
COMPILING = ("jax", "tinygrad", "tinygrad_eager")
"""Those of them that compile each op for each shape. What each op has of cases in `learn` would take hours there."""
BYTECODE = {"PYTHONDONTWRITEBYTECODE": ""}
"""Some images forbid Python to keep what it compiles; dozens of processes would then compile the same hundreds of modules."""
SHARED_GROUPS = nox.project.dependency_groups(PYPROJECT, "test", "bench")


@nox.session(venv_backend="none")
def tests(session: nox.Session) -> None:
    """Run the test suite against the pinned frameworks."""
    # By file: what a module of tests sets up (campaigns, processes that have imported the frameworks) is set up once. Some files share
    # what they set up, see `tests/units_of_work.py`. And in the order of the files: the default puts those of few tests last, which are
    # the slow ones. A process that a test takes down ends the run: with another one in its place pytest-xdist waits for ever for the
    # rest of the file. There is one worker more than processors: in a quarter of its time a worker waits for a run that it has started.
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    spread = ("-n", str(processors + 1), "--dist", "loadfile", "--no-loadscope-reorder", "--max-worker-restart", "0")
    session.run(frameworks(session), "-m", "pytest", *spread, *session.posargs, env=BYTECODE, external=True)


@nox.session(venv_backend="none")
def gate(session: nox.Session) -> None:
    """Decide whether the pinned frameworks conform; the reports land in reports/."""
    asked = ("gate", "--out", "reports", "--baseline", "reports/baseline.json", *session.posargs)
    session.run(frameworks(session), "-m", "conformance", *asked, env=BYTECODE, external=True)


@nox.session
def lint(session: nox.Session) -> None:
    """Check style and formatting with ruff."""
    session.install(*nox.project.dependency_groups(PYPROJECT, "lint"))
    session.run("ruff", "check", *session.posargs)
    session.run("ruff", "format", "--check", *session.posargs)


@nox.session
def types(session: nox.Session) -> None:
    """Check types with mypy, strictly."""
    session.install("-c", str(CONSTRAINTS), "-e", ".", *nox.project.dependency_groups(PYPROJECT, "types"))
    session.run("mypy", *session.posargs)


@nox.session(default=False)
@nox.parametrize("release", RELEASES)
def matrix(session: nox.Session, release: str) -> None:
    """Say of another release what of that which is known is there: which findings show, and what a small gate says."""
    backend = "torch" if release.startswith("torch") else "paddle"
    out = ROOT / "reports" / "matrix" / release.replace("==", "-")
    asked = ("--backends", backend, "--cases", "300", "--mutant-cases", "0", "--no-points", "--no-grid", "--out", str(out))
    session.install("-e", ".", release, f"numpy=={_pinned('numpy')}", "setuptools")  # which older Paddle imports, and does not ask for
    session.run("conformance", "findings", "--verify", "--write", success_codes=[0, 1])
    session.run("conformance", "gate", *asked, *session.posargs, success_codes=[0, 1])


@nox.session(default=False)
@nox.parametrize("engine", list(ENGINES))
def engines(session: nox.Session, engine: str) -> None:
    """Ask an engine of the examples whether its adapter is sound, what it does where nobody promises anything, and what is wrong."""
    backend, cases = f"examples.engines.{engine}", str(ENGINES[engine])
    out = ROOT / "reports" / "engines" / engine
    env = {"PYTHONPATH": str(ROOT), "DEV": "PYTHON", "JAX_PLATFORMS": "cpu"}
    env |= {"JAX_COMPILATION_CACHE_DIR": str(ROOT / ".nox" / "jax"), "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0"}
    session.install("-c", str(CONSTRAINTS), "-e", ".[torch]", *nox.project.dependency_groups(PYPROJECT, "engines"))
    session.run("conformance", "check-backend", backend, env=env)
    if engine not in COMPILING:
        session.run("conformance", "learn", "--backend", backend, "--cases", cases, "--out", str(out), env=env, success_codes=[0, 1])
    found = ("--backends", backend, "--cases", cases, "--out", str(out))  # real bugs of the engine are findings, so 1 is no failure
    session.run("conformance", "run", *found, *session.posargs, env=env, success_codes=[0, 1])
    grid = ("--backends", backend, "--grid", "--out", str(out / "grid"))
    session.run("conformance", "run", *grid, env=env, success_codes=[0, 1, 3])  # some cases show the program in the reference: ADR 26


@nox.session(venv_backend="none", default=False)
def bench(session: nox.Session) -> None:
    """Measure speed, as ratios against torch, HIPS autograd, gradcheck and the frameworks' own time."""
    session.run(frameworks(session), "benchmarks/bench.py", *session.posargs, external=True)


def frameworks(session: nox.Session) -> str:
    """Return the interpreter of the shared environment, which is made first if it is missing, unfinished or out of date."""
    python = str(FRAMEWORKS / ("Scripts/python.exe" if os.name == "nt" else "bin/python"))
    ingredients = _ingredients()
    if STAMP.exists() and STAMP.read_text() == ingredients:
        return python
    STAMP.unlink(missing_ok=True)  # until everything is installed, the environment is none
    session.run(sys.executable, "-m", "venv", "--clear", str(FRAMEWORKS), external=True)
    session.log("installing the frameworks, once: up to 2 GB, a few minutes")
    wanted = ["-e", ".[all]", *SHARED_GROUPS]
    session.run(python, "-m", "pip", "install", "--quiet", "-c", str(CONSTRAINTS), *wanted, external=True)
    STAMP.write_text(ingredients)
    return python


def _pinned(package: str) -> str:
    """Return the version of a package on which the gate is defined."""
    return dict(line.split("==") for line in CONSTRAINTS.read_text().splitlines() if "==" in line)[package]


def _ingredients() -> str:
    """Digest what the environment is made of: our requirements and entry points, the pins, the Python."""
    parts = [PYPROJECT["build-system"], PYPROJECT["project"], SHARED_GROUPS, CONSTRAINTS.read_text(), sys.version, str(ROOT)]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
