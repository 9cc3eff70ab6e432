"""Fixtures: the records of a small run, and the page of some."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.report import write_html

from .samples import FOOTER, HEADER, finding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from conformance.campaign.records import Footer, Header, Record

    Write = Callable[[Iterable[Record]], str]


@pytest.fixture
def header() -> Header:
    """Return the first record of a run."""
    return HEADER


@pytest.fixture
def footer() -> Footer:
    """Return the last record of a run with one finding."""
    return FOOTER


@pytest.fixture
def records(header: Header, footer: Footer) -> list[Record]:
    """Return all records of a run with one finding, without its case records."""
    return [header, finding(), footer]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Return what writes records to a page, and gives its text."""

    def written(records: Iterable[Record]) -> str:
        path = tmp_path / "report.html"
        write_html(records, path)
        return path.read_text(encoding="utf-8")

    return written
