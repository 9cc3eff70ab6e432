"""The published JSON Schema of the case language."""

import json
from pathlib import Path

import jsonschema
import msgspec
import pytest

from conformance.case import Case
from conformance.clauses import CURATED

PUBLISHED = json.loads((Path(__file__).parents[1] / "docs" / "case.schema.json").read_text())


def test_published_schema_is_that_of_the_language() -> None:
    assert json.loads(json.dumps(msgspec.json.schema(Case))) == PUBLISHED


@pytest.mark.parametrize("curated", CURATED, ids=lambda curated: curated.name)
def test_curated_case_satisfies_the_published_schema(curated) -> None:
    jsonschema.validate(json.loads(msgspec.json.encode(curated.case)), PUBLISHED)
