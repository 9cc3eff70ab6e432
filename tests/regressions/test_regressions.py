"""Cases that once showed a mistake of ours, each named after it: every one agrees on PyTorch, in a process of its own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from conformance.campaign.explain import explain_case
from conformance.case.files import read

if TYPE_CHECKING:
    from conformance.campaign.pool import Workers

FILES = sorted(Path(__file__).parent.glob("*.json"))


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_a_case_that_was_judged_wrongly_agrees(workers: Workers, path: Path) -> None:
    assert workers.call(explain_case, read(path), "torch").verdict.bucket in ("agreed", "same_error")
