"""What `conformance ops --coverage` says of the op universe."""

from __future__ import annotations

import json

import pytest

from conformance.ops import catalogue
from conformance.ops.usage import MODELS, Count, catalogued, coverage, universe
from tests.conformance.door import conformance

FLOOR = 0.995


@pytest.mark.parametrize("models", MODELS)
def test_the_catalogue_covers_what_models_use(models):
    assert coverage(catalogued()).uses[models].share >= FLOOR


def test_an_op_that_half_of_the_models_use_is_missed_where_it_is_gone():
    without = coverage(catalogued() - {"softmax"})
    assert "softmax" in {op.name for op in without.missing}
    assert all(without.uses[models].share < FLOOR for models in MODELS)


def test_uses_are_weighed_by_models_and_base_ops_are_not():
    add = next(op for op in universe() if op.name == "add")
    alone = coverage(frozenset({"add", "made_up"}))
    assert (add.used["nlp"], 1, 1) == (alone.uses["nlp"].there, alone.base_ops.there, alone.first[100].there)
    assert ("made_up",) == alone.beyond


def test_families_and_what_is_missing_add_up_to_all_base_ops():
    found = coverage(catalogued())
    assert found.base_ops == Count(sum(c.there for c in found.families.values()), sum(c.of for c in found.families.values()))
    assert len(universe()) == found.base_ops.there + len(found.missing)


def test_rows_have_the_rank_of_their_base_op():
    ranks = {op.name: op.rank for op in universe()}
    assert [] == [entry.name for entry in catalogue().values() if ranks.get(entry.base_op, entry.rank) != entry.rank]


def test_the_command_says_what_is_counted_and_names_what_is_missing():
    said = conformance("ops", "--coverage").stdout
    missing = coverage(catalogued()).missing
    assert said.startswith("Counted are uses: pairs of a public model and a base op")
    assert [] == [op.name for op in missing if f"{op.name} ({op.rank})" not in said]


def test_the_command_says_it_as_json():
    said = json.loads(conformance("ops", "--coverage", "--json").stdout)
    found = coverage(catalogued())
    assert {models: count.share for models, count in found.uses.items()} == {
        models: use["covered"] for models, use in said["uses"].items()
    }
    assert [op.name for op in found.missing] == [op["base_op"] for op in said["missing"]]
    assert {"there": found.first[200].there, "of": found.first[200].of} == said["first_ranks"]["200"]
