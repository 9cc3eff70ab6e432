"""The project's own rules: layers, lazy imports, sizes, and documents that say what is so."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("reference_impl", "conformance")
LONGEST = 350
ROW = re.compile(r"^\| (`[\w., `]+`) \|")


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
    """Read the floors of the layer table: the rooms of each row, a package with all that is in it or a module on its own."""
    rows = [re.findall(r"`([\w.]+)`", row[1]) for row in map(ROW.match, text.splitlines()) if row]
    floors = {room: floor for floor, rooms in enumerate(rows) for room in rooms}
    assert len(floors) == sum(map(len, rows)), "ARCHITECTURE.md: a room stands in the table twice"
    return floors


TABLE = layer_table((ROOT / "ARCHITECTURE.md").read_text())


def room_of(module: str, table: dict[str, int]) -> str | None:
    """Find the room of a module: itself, or else the nearest package that the table names."""
    parts = module.split(".")
    return next((name for n in range(len(parts), 0, -1) if (name := ".".join(parts[:n])) in table), None)


@cache
def imports_in(tree: ast.AST) -> list[ast.stmt]:
    """Find the imports of a module, once for all that is asked of them: also those in functions, and for the type checker alone."""
    return [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]


def imports_of(tree: ast.AST, known: dict[str, Path]) -> set[str]:
    """Modules of ours that a module imports."""
    found = set()
    for node in imports_in(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            found.update(name if name in known else node.module for name in names)
    return found & set(known)


@cache
def tree_of(module: str) -> ast.Module:
    """Parse a module once for all that is asked of it."""
    return ast.parse(MODULES[module].read_text())


def wrong_imports(module: str, tree: ast.AST, table: dict[str, int], known: dict[str, Path]) -> list[str]:
    """Say which imports of a module point neither to its own room nor to one on a lower floor."""
    here = room_of(module, table)
    if here is None:
        return [f"{module} has no room; enter it in the table of ARCHITECTURE.md"]
    rooms = [(target, room_of(target, table)) for target in sorted(imports_of(tree, known))]
    return [
        f"{module} may not import {target}: {room} does not stand below {here}"
        for target, room in rooms
        if room is not None and room != here and table[room] >= table[here]
    ]


@pytest.mark.parametrize("module", MODULES)
def test_imports_point_to_rooms_below(module: str) -> None:
    assert not wrong_imports(module, tree_of(module), TABLE, MODULES)


def test_every_entry_of_the_layer_table_is_a_module() -> None:
    assert not [room for room in TABLE if room not in MODULES]


def test_the_layer_table_is_read_at_a_glance() -> None:
    assert max(TABLE.values()) < 20


def test_no_import_cycle_between_files() -> None:
    graph = {module: imports_of(tree_of(module), MODULES) - {module} for module in MODULES}
    TopologicalSorter(graph).prepare()  # raises CycleError with the cycle


def test_no_file_stands_in_the_hall() -> None:
    allowed = {"__init__.py", "__main__.py", "py.typed"}
    entries = {path.name: path for path in (ROOT / "conformance").iterdir() if path.name != "__pycache__"}
    assert not [name for name, path in entries.items() if path.is_file() and name not in allowed]
    assert len(entries) <= 16


ROOMS = {"low": 0, "beside": 0, "whole": 1, "high": 2, "high.own": 3}
KNOWN = dict.fromkeys(["low", "beside", "whole", "whole.part", "high", "high.own"], Path())


@pytest.mark.parametrize(
    ("module", "source", "problems"),
    [
        ("low", "import high", ["low may not import high: high does not stand below low"]),
        ("low", "import beside", ["low may not import beside: beside does not stand below low"]),
        ("low", "def late():\n    from whole import x", ["low may not import whole: whole does not stand below low"]),
        ("low", "from whole import part", ["low may not import whole.part: whole does not stand below low"]),
        ("low", "if TYPE_CHECKING:\n    import high", ["low may not import high: high does not stand below low"]),
        ("new", "import low", ["new has no room; enter it in the table of ARCHITECTURE.md"]),
        ("high", "from high.own import x", ["high may not import high.own: high.own does not stand below high"]),
        ("high", "import low\nfrom whole import part\nimport numpy", []),
        ("whole", "from whole.part import x", []),
    ],
)
def test_an_upward_import_is_caught(module: str, source: str, problems: list[str]) -> None:
    assert problems == wrong_imports(module, ast.parse(source), ROOMS, KNOWN)


def test_layer_table_is_read_as_written() -> None:
    text = "| rooms | what they are for |\n|---|---|\n| `a`, `b` | first |\n| `b.c` | then |\n"
    assert {"a": 0, "b": 0, "b.c": 1} == layer_table(text)


ADAPTERS = {"torch": ["torch"], "paddle": ["paddle", "paddle_static"]}
"""The folders of each framework; its engine alone imports it, so that what is known of it can be read without."""


@pytest.mark.parametrize("framework", ADAPTERS)
def test_a_framework_is_imported_in_its_engines_alone(framework: str) -> None:
    importers = [module for module in MODULES if framework in top_level_imports(tree_of(module))]
    assert [f"conformance.backends.{name}.engine" for name in ADAPTERS[framework]] == importers


def top_level_imports(tree: ast.AST) -> set[str]:
    """Names of the packages that are imported anywhere in a tree."""
    found = set()
    for node in imports_in(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.partition(".")[0])
    return found


HEAVY = {"torch", "paddle", "hypothesis", "rich", "jinja2"}


@pytest.mark.parametrize("module", ["conformance", "conformance.cli.commands"])
def test_importing_the_package_and_the_command_imports_nothing_heavy(module: str) -> None:
    code = f"import sys, {module}; print(*sorted({HEAVY} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert not done.stdout.split()


@pytest.mark.parametrize("module", MODULES)
def test_module_has_a_docstring_and_can_be_read_in_a_sitting(module: str) -> None:
    assert ast.get_docstring(tree_of(module)), f"{module} has no docstring"
    assert len(MODULES[module].read_text().splitlines()) <= LONGEST, f"{module} is longer than {LONGEST} lines; split it"


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
    assert any(run.partition(" -- ")[0] == line for run in (ROOT / ".ci" / "run").read_text().splitlines())
