"""The reference engine needs NumPy and the standard library, and nothing of the suite that it judges for."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import reference_impl
from reference_impl import numerical

# Where the package lies, installed or not, so that the probe finds the one under test.
ROOT = Path(reference_impl.__file__).parents[1]

# The modules that NumPy itself imports are NumPy's business, so it goes first.
PROBE = """
import importlib, pkgutil, sys
import numpy, numpy.testing
before = set(sys.modules)
import reference_impl
for module in pkgutil.walk_packages(reference_impl.__path__, "reference_impl."):
    importlib.import_module(module.name)
new = {name.partition(".")[0] for name in set(sys.modules) - before}
print(*sorted(new - set(sys.stdlib_module_names) - {"numpy"}))
"""


@pytest.fixture(scope="module")
def imported() -> set[str]:
    """Top-level packages that importing every module of the reference brings in."""
    done = subprocess.run([sys.executable, "-c", PROBE], cwd=ROOT, check=True, capture_output=True, text=True)
    return set(done.stdout.split())


def test_reference_imports_only_numpy_and_the_standard_library(imported: set[str]) -> None:
    assert {"reference_impl"} == imported


def test_reference_imports_nothing_of_conformance(imported: set[str]) -> None:
    assert "conformance" not in imported


def test_oracle_imports_no_engine() -> None:
    code = (
        "import importlib.util, sys\n"
        "spec = importlib.util.spec_from_file_location('numerical', sys.argv[1])\n"
        "made = importlib.util.module_from_spec(spec)\n"
        "sys.modules['numerical'] = made\n"
        "spec.loader.exec_module(made)\n"
        "print(*sorted({name.partition('.')[0] for name in sys.modules} & {'reference_impl', 'conformance'}))\n"
    )
    done = subprocess.run([sys.executable, "-c", code, numerical.__file__], check=True, capture_output=True, text=True)
    assert done.stdout.split() == []
