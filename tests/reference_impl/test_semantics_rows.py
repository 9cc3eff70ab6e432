"""The measured rows of the calling contract that the language of the reference can express: what each dialect predicts.

A row was observed on torch 2.13.0 and paddle 3.3.1; its number names the test. Where a framework contradicts its own documents,
the row stands here as promised, and the finding is named beside it.
"""

from __future__ import annotations

import pytest

from reference_impl import DIALECTS, Dialect
from tests.reference_impl.rows import NOT_OFFERED, Row, answer
from tests.reference_impl.rows_graphs import ACCUMULATION, LIFETIME
from tests.reference_impl.rows_inputs import INPUTS
from tests.reference_impl.rows_seeds import OVERLAPS, SEEDS

ROWS = {**SEEDS, **OVERLAPS, **LIFETIME, **ACCUMULATION, **INPUTS}
WORK = [
    pytest.param(dialect, row, row[position], id=f"{name}-{dialect.name}")
    for name, row in ROWS.items()
    for position, dialect in enumerate(DIALECTS.values(), start=1)
    if row[position] != NOT_OFFERED
]


@pytest.mark.parametrize(("dialect", "row", "expected"), WORK)
def test_row(dialect: Dialect, row: Row, expected: object) -> None:
    assert expected == answer(row, dialect)
