"""The project's own rules: layers, lazy imports, sizes, and documents that say what is so."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("reference_impl", "conformance")
LONGEST = 350
ROW = re.compile(r"^\|\s*(\d+)\s*\|(.*?)\|")


class Layer(NamedTuple):
    """Where the table puts a module: the layer's number, and the entry that names it."""

    number: int
    entry: str


def modules_in(root: Path) -> dict[str, Path]:
    """Every module of the packages by its dotted name."""
    found = {}
    for package in PACKAGES:
        for path in sorted((root / package).rglob("*.py")):
            parts = path.relative_to(root).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules_in(ROOT)


def layer_table(text: str) -> dict[str, int]:
    """Read the entries of the layer table: a module, or ``package.*`` for a package and all that is in it."""
    table: dict[str, int] = {}
    for line in text.splitlines():
        row = ROW.match(line)
        for entry in re.findall(r"`([\w.*]+)`", row[2]) if row else ():
            assert entry not in table, f"ARCHITECTURE.md: {entry} stands in the table twice"
            table[entry] = int(row[1])
    return table


TABLE = layer_table((ROOT / "ARCHITECTURE.md").read_text())


def layer_of(module: str, table: dict[str, int]) -> Layer | None:
    """Find a module in the table: under its own name, else under the nearest package that is entered whole."""
    if module in table:
        return Layer(table[module], module)
    parts = module.split(".")
    entries = (".".join(parts[:n]) + ".*" for n in range(len(parts), 0, -1))
    return next((Layer(table[e], e) for e in entries if e in table), None)


def imports_of(tree: ast.AST, known: dict[str, Path]) -> set[str]:
    """Modules of ours that a module imports when it runs, at the top or inside a function."""
    found = set()
    for node in run_time_nodes(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            found.update(name if name in known else node.module for name in names)
    return found & set(known)


def run_time_nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """Walk a tree, but for what only a type checker sees."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            for other in node.orelse:
                yield other
                yield from run_time_nodes(other)
            continue
        yield node
        yield from run_time_nodes(node)


def wrong_imports(module: str, source: str, table: dict[str, int], known: dict[str, Path]) -> list[str]:
    """Say which imports of a module do not point to a lower layer, or to its own package where that is one entry."""
    here = layer_of(module, table)
    if here is None:
        return [f"{module} has no layer; enter it in the table of ARCHITECTURE.md"]
    wrong = []
    for target in sorted(imports_of(ast.parse(source), known) - {module}):
        there = layer_of(target, table)
        if there is not None and there.number >= here.number and not (here.entry == there.entry and here.entry.endswith(".*")):
            wrong.append(f"{module} (layer {here.number}) may not import {target} (layer {there.number})")
    return wrong


@pytest.mark.parametrize("module", MODULES)
def test_imports_point_to_lower_layers(module: str) -> None:
    assert not wrong_imports(module, MODULES[module].read_text(), TABLE, MODULES)


def test_every_entry_of_the_layer_table_is_a_module() -> None:
    assert not [entry for entry in TABLE if entry.removesuffix(".*") not in MODULES]


def test_no_import_cycle_inside_a_layer() -> None:
    graph = {module: imports_of(ast.parse(path.read_text()), MODULES) - {module} for module, path in MODULES.items()}
    TopologicalSorter(graph).prepare()  # raises CycleError with the cycle


LAYERS = {"low": 0, "middle": 1, "whole.*": 1, "high": 2}
KNOWN = dict.fromkeys(["low", "middle", "whole", "whole.part", "high"], Path())


@pytest.mark.parametrize(
    ("module", "source", "problems"),
    [
        ("low", "import high", ["low (layer 0) may not import high (layer 2)"]),
        ("low", "def late():\n    from middle import x", ["low (layer 0) may not import middle (layer 1)"]),
        ("middle", "from whole import part", ["middle (layer 1) may not import whole.part (layer 1)"]),
        ("new", "import low", ["new has no layer; enter it in the table of ARCHITECTURE.md"]),
        ("high", "import low\nfrom whole import part\nimport numpy", []),
        ("whole", "from whole.part import x", []),
        ("low", "if TYPE_CHECKING:\n    import high", []),
        ("low", "if TYPE_CHECKING:\n    pass\nelse:\n    import high", ["low (layer 0) may not import high (layer 2)"]),
    ],
)
def test_an_upward_import_is_caught(module: str, source: str, problems: list[str]) -> None:
    assert problems == wrong_imports(module, source, LAYERS, KNOWN)


def test_layer_table_is_read_as_written() -> None:
    text = "| layer | modules |\n|---|---|\n| 1 | `b`, `c.*` | later |\n| 0 | `a` | first |\n"
    expected = {"b": 1, "c.*": 1, "a": 0}
    assert expected == layer_table(text)


ADAPTERS = {"torch": ["torch"], "paddle": ["paddle", "paddle_static"]}


@pytest.mark.parametrize("framework", ADAPTERS)
def test_a_framework_is_imported_in_its_adapters_alone(framework: str) -> None:
    importers = [module for module, path in MODULES.items() if framework in top_level_imports(ast.parse(path.read_text()))]
    assert [f"conformance.backends.{name}" for name in ADAPTERS[framework]] == importers


def top_level_imports(tree: ast.AST) -> set[str]:
    """Names of the packages that are imported anywhere in a tree."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.partition(".")[0])
    return found


HEAVY = {"torch", "paddle", "hypothesis", "rich", "jinja2"}


@pytest.mark.parametrize("module", ["conformance", "conformance.cli"])
def test_importing_the_package_and_the_command_imports_nothing_heavy(module: str) -> None:
    code = f"import sys, {module}; print(*sorted({HEAVY} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert not done.stdout.split()


@pytest.mark.parametrize("module", MODULES)
def test_module_has_a_docstring_and_can_be_read_in_a_sitting(module: str) -> None:
    source = MODULES[module].read_text()
    assert ast.get_docstring(ast.parse(source)), f"{module} has no docstring"
    assert len(source.splitlines()) <= LONGEST, f"{module} is longer than {LONGEST} lines; split it"


def tracked_texts() -> list[Path]:
    """Text files that git tracks (or would track)."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    paths = [ROOT / name for name in listed.split("\0") if name]
    return [path for path in paths if path.is_file() and b"\0" not in path.read_bytes()]


MACHINE_PATH = re.compile(r"(?<![\w.~])/(?:home|root|Users|opt|work|mnt|tmp)/[\w.-]+")


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="needs the git checkout")
def test_no_file_names_a_path_of_some_machine() -> None:
    found = [f"{path.relative_to(ROOT)}: {match[0]}" for path in tracked_texts() for match in MACHINE_PATH.finditer(path.read_text())]
    assert not found


@pytest.mark.parametrize("text", ["see " + "/home" + "/me/x", "'" + "/opt" + "/tool'", "\n" + "/work" + "/main"])
def test_a_path_of_some_machine_is_caught(text: str) -> None:
    assert MACHINE_PATH.search(text)


@pytest.mark.parametrize("session", ["tests", "gate"])
def test_ci_runs_the_lines_of_the_readme(session: str) -> None:
    (line,) = [line for line in (ROOT / "README.md").read_text().splitlines() if line.endswith(f"nox -s {session}")]
    assert line in (ROOT / ".ci" / "run").read_text().splitlines()
