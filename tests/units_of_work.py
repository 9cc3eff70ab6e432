"""How pytest-xdist deals out the files of the tests: what is set up for a file, or for a few files together, is set up once.

A process that a test takes down ends the run, so no unit is ever dealt out again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdist.scheduler import LoadFileScheduling

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xdist.workermanage import WorkerController

TOGETHER = {
    "frameworks, which take six seconds to import": (
        "tests/conformance/test_backends.py",
        "tests/conformance/test_conditional.py",
        "tests/conformance/test_engines_of_a_kind.py",
        "tests/conformance/test_following.py",
        "tests/conformance/test_known_laws.py",
        "tests/conformance/test_nulls.py",
        "tests/conformance/test_other_engines.py",
        "tests/conformance/test_profiles.py",
        "tests/conformance/test_static.py",
        "tests/conformance/test_toy_op.py",
        "tests/conformance/test_unpromised.py",
    ),
    "all mutants, which take ten seconds to find": (
        "tests/conformance/test_mutants.py",
        "tests/conformance/test_mutants_command.py",
        "tests/conformance/test_mutation_operators.py",
    ),
}
"""Files that one process runs, by what they share: those that run a framework in their own process, and not in a worker, and others."""


class Collected(list[str]):
    """The tests of a process, in which each is found at once: its place is asked for 20,000 times."""

    def __init__(self, tests: Sequence[str]) -> None:
        super().__init__(tests)
        self._places = {test: place for place, test in enumerate(tests)}

    def index(self, test: str) -> int:  # type: ignore[override]
        return self._places[test]


class Units(LoadFileScheduling):
    """Deals out files, and those that belong together as one."""

    def _split_scope(self, nodeid: str) -> str:
        file = super()._split_scope(nodeid)
        return next((what for what, files in TOGETHER.items() if file in files), file)

    def add_node_collection(self, node: WorkerController, collection: Sequence[str]) -> None:
        super().add_node_collection(node, collection)
        self.registered_collections[node] = Collected(collection)

    def mark_test_complete(self, node: WorkerController, item_index: int, duration: float = 0) -> None:  # noqa: ARG002 - as the class above
        """Forget a test that is over; what is left of the units of a process is counted after each test."""
        test = self.registered_collections[node][item_index]
        del self.assigned_work[node][self._split_scope(test)][test]
        self._reschedule(node)
