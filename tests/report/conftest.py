"""Fixtures: the records of a small run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .samples import FOOTER, HEADER, finding

if TYPE_CHECKING:
    from conformance.campaign.records import Footer, Header, Record


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
