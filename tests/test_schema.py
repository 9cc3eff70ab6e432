"""The published JSON Schemas: of the case language, and of the records of a run."""

import json
from pathlib import Path

import jsonschema
import msgspec
import pytest

from conformance.campaign.records import Record
from conformance.case.case import Case
from conformance.clauses import CURATED
from tests.report.samples import FOOTER, HEADER, finding

DOCS = Path(__file__).parents[1] / "docs"
PUBLISHED = json.loads((DOCS / "case.schema.json").read_text())
OF_RECORDS = json.loads((DOCS / "record.schema.json").read_text())
OF_CASES = jsonschema.validators.validator_for(PUBLISHED)(PUBLISHED)


def test_published_schema_is_that_of_the_language() -> None:
    assert json.loads(json.dumps(msgspec.json.schema(Case))) == PUBLISHED


def test_published_schema_is_a_schema() -> None:
    OF_CASES.check_schema(PUBLISHED)


def test_published_schema_is_that_of_the_records() -> None:
    assert json.loads(json.dumps(msgspec.json.schema(Record))) == OF_RECORDS


@pytest.mark.parametrize("curated", CURATED, ids=lambda curated: curated.name)
def test_curated_case_satisfies_the_published_schema(curated) -> None:
    OF_CASES.validate(json.loads(msgspec.json.encode(curated.case)))


@pytest.mark.parametrize("record", [HEADER, finding(), FOOTER], ids=lambda record: type(record).__name__)
def test_a_record_satisfies_the_published_schema(record) -> None:
    jsonschema.validate(json.loads(msgspec.json.encode(record)), OF_RECORDS)


def test_a_footer_with_an_unknown_verdict_does_not_satisfy_the_published_schema() -> None:
    broken = {**msgspec.to_builtins(FOOTER), "verdict": "fine"}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(json.loads(msgspec.json.encode(broken)), OF_RECORDS)
