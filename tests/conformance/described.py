"""What several files of tests on known deviations ask about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.backends import BackendInfo
from conformance.case.case import Input
from conformance.deviations.findings import findings_folders
from reference_impl import TORCH

if TYPE_CHECKING:
    from pathlib import Path


CASES = [path for folder in findings_folders() for path in sorted(folder.glob("*/case.json"))]
INFO = BackendInfo("torch", "2.13.0+cpu", TORCH)
X = Input("x", (2,), (1.0, 2.0))


def write(folder: Path, finding: str, text: str) -> None:
    """Write a finding with its entries."""
    (folder / finding).mkdir()
    (folder / finding / "case.json").write_text("{}")
    (folder / finding / "deviation.toml").write_text(text)
