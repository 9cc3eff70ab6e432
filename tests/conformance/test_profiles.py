"""The profiles: graphs of thousands of nodes, and models. They are drawn alike everywhere, and find what the usual scripts do not."""

from __future__ import annotations

import functools
import json
import math
from collections import Counter
from dataclasses import replace

import msgspec
import pytest

from conformance.backends import open_backend
from conformance.backends.reference import reference
from conformance.campaign.findings import shrink
from conformance.campaign.findings.explain import run_after
from conformance.campaign.options import Options
from conformance.campaign.records import CaseRecord, Header
from conformance.campaign.records.files import read
from conformance.campaign.records.fingerprint import fingerprint_of
from conformance.campaign.run import run_campaign
from conformance.campaign.workers.pool import Workers
from conformance.campaign.workers.trial import run_case
from conformance.case.differentiated import differentiated
from conformance.case.files import check
from conformance.case.steps import Backward, Call, ClearGrad, Grad, Op, uses
from conformance.compare.promise import Promise
from conformance.generate.profiles.odds import DEEP, MODEL
from conformance.generate.scripts import DrawOptions, case_of, is_program, odds_of, team_of
from conformance.judge.verdict import FAILING, Bucket
from conformance.laws.judging import Judging
from conformance.ops import catalogue
from conformance.report import write_html
from reference_impl import DIALECTS, OPS, PADDLE
from reference_impl.tape.primitive import Primitive
from tests.conformance.door import conformance
from tests.conformance.drawn import Drawn
from tests.report.samples import FOOTER, HEADER, finding
from tests.wrong_engines import correct, loses_one_contribution

DEEP_SCRIPTS = DrawOptions(profile="deep")
EXACT = replace(DEEP_SCRIPTS, lanes=("exact",))
SMALL = replace(EXACT, deep=replace(DEEP, steps=(600,)))
MODELS = DrawOptions(profile="model")
ORDERS = DrawOptions(profile="orders")
PROGRAMS = replace(ORDERS, static=True)
DEEP_ONES, EXACT_ONES = Drawn(7, 40, DEEP_SCRIPTS), Drawn(7, 100, EXACT)
LOSING = "tests.wrong_engines:loses_one_contribution"


def ops_of(case):
    return [step.op for step in case.steps if isinstance(step, Op)]


@pytest.mark.parametrize("options", [DEEP_SCRIPTS, MODELS, ORDERS], ids=lambda options: options.profile)
@pytest.mark.parametrize("index", range(6))
def test_what_a_profile_draws_is_a_right_case_and_the_same_each_time(options, index):
    case = case_of(7, index, options)
    check(case)
    assert case.id == case_of(7, index, options).id


def test_deep_scripts_have_hundreds_to_thousands_of_steps():
    lengths = sorted(len(case.steps) for case in DEEP_ONES[:25])
    assert lengths[0] >= 500
    assert lengths[-1] >= 2400


def test_deep_scripts_have_long_chains_wide_fans_and_many_roots():
    cases = [*DEEP_ONES]
    used = [max(Counter(name for step in case.steps if isinstance(step, Op) for _, name in uses(step)).values()) for case in cases]
    roots = [len(step.roots) for case in cases for step in case.steps if isinstance(step, Call)]
    operands = [len(step.operands) for case in cases for step in case.steps if isinstance(step, Op)]
    assert all(most >= 200 for most in (max(used), max(roots), max(operands)))
    assert any(step.create_graph for case in cases for step in case.steps if isinstance(step, Grad))


@pytest.mark.parametrize("index", range(8))
def test_deep_scripts_of_the_exact_lane_are_exact(index):
    case = case_of(8, index, SMALL)
    engine = correct()
    assert Promise(case, engine.info).bounds.exact


@pytest.mark.frameworks
@pytest.mark.parametrize("name", ["torch", "paddle"])
def test_a_deep_script_conforms(name):
    case = next(case for case in EXACT_ONES if 2000 <= len(case.steps) <= 3000)
    verdict = run_case(case, [open_backend(name)], Judging()).verdicts[name]
    assert verdict.bucket not in FAILING


def test_the_usual_scripts_have_nothing_of_which_an_engine_loses_the_hundredth():
    engine = loses_one_contribution()
    assert not any(
        run_case(case_of(7, i, DrawOptions()), [engine], Judging()).verdicts[engine.info.name].bucket in FAILING for i in range(20)
    )


def test_an_engine_that_loses_one_contribution_of_hundreds_is_caught_and_the_finding_is_small(monkeypatch):
    monkeypatch.setattr(shrink, "ROUNDS", 1)  # one round is the same on every machine, and a time is not
    with Workers((LOSING,), 1) as workers:
        for index in range(12):
            case = case_of(3, index, SMALL)
            verdict = run_after((), case, LOSING, Judging()).verdicts[LOSING]
            if verdict.bucket is Bucket.DIVERGED:
                break
        found = fingerprint_of(LOSING, verdict)
        small = shrink.shrink_case(workers, case, found, Judging(), math.inf)
    assert len(small.case.steps) < len(case.steps) / 2
    assert {"contract runs of steps", "drop steps", "cut values"} & set(small.rounds)


BLOCKS = {
    "attention": {"softmax", "matmul", "permute", "linear"},
    "attention that is causal": {"masked_fill", "softmax"},
    "attention by its op": {"scaled_dot_product_attention"},
    "a normalized layer": {"layer_norm", "linear"},
    "a convolution that is normalized and pooled": {"conv2d_biased", "batch_norm_train", "max_pool2d"},
    "a depthwise convolution": {"conv2d_depthwise"},
    "groups": {"group_norm"},
    "instances": {"instance_norm"},
    "means of all places": {"adaptive_avg_pool2d"},
    "words and a loss of classes": {"embedding", "cross_entropy"},
    "words that are the head as well": {"embedding", "transpose", "matmul"},
    "dropout in evaluation": {"dropout_eval"},
    "a penalty": {"square", "sum", "add"},
}


@pytest.fixture(scope="module")
def models():
    return [case_of(7, index, MODELS) for index in range(300)]


@pytest.mark.parametrize("block", BLOCKS)
def test_every_block_is_met_in_three_hundred_scripts(block, models):
    assert any(BLOCKS[block] <= set(ops_of(case)) for case in models)


@pytest.mark.parametrize("words", [MODEL.activation, MODEL.norm, MODEL.image_norm, MODEL.pool], ids=lambda words: words[0])
def test_every_option_of_a_block_that_is_an_op_is_met(words, models):
    met = {op for case in models for op in ops_of(case)}
    assert [] == [word for word in words if word in catalogue() and word not in met]


def test_models_are_trained_as_people_do(models):
    steps = [step for case in models for step in case.steps]
    assert any(isinstance(step, ClearGrad) for step in steps)
    assert any(isinstance(step, Grad) and step.create_graph for step in steps)
    assert any(sum(isinstance(step, Backward) for step in case.steps) > 1 for case in models)
    assert all(any(isinstance(step, Call) for step in case.steps) for case in models)


@pytest.mark.frameworks
@pytest.mark.parametrize("name", ["torch", "paddle"])
def test_models_conform(name):
    engine = open_backend(name)
    buckets = {run_case(case_of(9, i, MODELS), [engine], Judging()).verdicts[name].bucket for i in range(12)}
    assert not buckets & set(FAILING)


@functools.cache
def turn_of(options):
    """Return the teams until each op has had its turn."""
    teams = []
    while not (seen := {op for team in teams for op in team}) or not set(team_of(4, len(teams), options)) & seen:
        teams.append(team_of(4, len(teams), options))
    return teams


def test_each_op_has_its_turn_in_the_profile_of_orders():
    assert sorted(catalogue()) == sorted(op for team in turn_of(ORDERS) for op in team)


def test_each_op_that_programs_take_has_its_turn_in_programs_of_the_profile_of_orders():
    ops = {name for name, row in catalogue().items() if row.family not in ("complex", "fourier") and row.numbers.taken != "complex"}
    assert sorted(ops) == sorted(op for team in turn_of(PROGRAMS) for op in team)


def test_ops_of_a_team_have_as_many_orders_of_derivative_in_each_dialect():
    def orders(op, dialect):
        return min(3, dialect.conventions.highest_order(dialect.spelled.get(op, op)))

    teams = [[op for op in team if isinstance(OPS[op], Primitive)] for team in turn_of(ORDERS)]
    assert all(1 >= len({orders(op, dialect) for op in team}) for team in teams for dialect in DIALECTS.values())


def test_a_formula_has_its_turn_alone():
    formulas = [team for team in turn_of(ORDERS) if any(not isinstance(OPS[op], Primitive) for op in team)]
    assert formulas
    assert all(1 == len(team) for team in formulas)


@pytest.fixture(scope="module")
def derived_in_turn():
    """Say of each script of a turn which ops each of its calls differentiates, and to which order."""
    return [[*differentiated(case_of(4, index, ORDERS)).values()] for index in range(len(turn_of(ORDERS)))]


def test_nearly_every_op_that_has_its_turn_is_differentiated_to_the_third_order(derived_in_turn):
    highest = {}
    for calls, team in zip(derived_in_turn, turn_of(ORDERS), strict=True):
        highest |= {op: max((ops.get(op, 0) for call in calls for ops in call.values()), default=0) for op in team}
    assert sum(order == 3 for order in highest.values()) >= 0.95 * len(highest), highest


def test_a_turn_has_eight_gradients_for_each_op_at_each_order(derived_in_turn):
    counts = Counter()
    for calls in derived_in_turn:
        counts.update(order for call in calls for ops in call.values() for order in ops.values())
    assert all(counts[order] >= 8 * len(catalogue()) for order in (1, 2, 3)), counts


def test_a_second_derivative_is_compared_of_an_op_of_which_an_engine_has_no_third():
    engine, square = reference(PADDLE, PADDLE.not_offered), replace(ORDERS, ops=("square",))
    counts = [run_case(case_of(4, i, square), [engine]).verdicts[engine.info.name].counts for i in range(4)]
    assert any("derivative of square @2" in case and "derivative of square @3" not in case for case in counts)


def test_a_third_derivative_in_a_seed_is_asked_for_of_each_second_one():
    def follows(case, number, second):
        seeds = {entry.name for entry in case.inputs if entry.name.startswith("s")}
        present = {made for made, asked in zip(second.results, second.inputs, strict=True) if asked in seeds}
        return not present or any(root in present for step in case.steps[number + 1 :] if isinstance(step, Grad) for root in step.roots)

    def seconds(case):
        gradients = {made for step in case.steps if isinstance(step, Grad) for made in step.results}
        return [(n, s) for n, s in enumerate(case.steps) if isinstance(s, Grad) and s.create_graph and s.roots[0] in gradients]

    cases = [case_of(4, index, ORDERS) for index in range(12)]
    assert all(follows(case, number, second) for case in cases for number, second in seconds(case))


def test_a_third_of_the_scripts_of_an_op_of_many_operands_have_no_constant():
    lstm = replace(ORDERS, ops=("lstm",))
    free = sum(all(made.differentiable for made in case_of(4, i, lstm).inputs if made.name.startswith("x")) for i in range(40))
    assert free >= 13, free


def test_the_gradients_of_a_layer_are_asked_for_of_all_its_weights():
    def asks_for_all(case):
        call = next(step for step in case.steps if isinstance(step, Grad) and step.create_graph)
        weights = {name for step in case.steps if isinstance(step, Op) and step.op == "lstm_stacked" for name in step.operands[1:]}
        return {made.name for made in case.inputs if made.differentiable and made.name in weights} <= {*call.inputs}

    lstm = replace(ORDERS, ops=("lstm_stacked",))
    assert all(asks_for_all(case_of(4, i, lstm)) for i in range(10))


def test_a_reference_that_is_right_agrees_with_the_profile_of_orders():
    buckets = {run_case(case_of(9, i, ORDERS), [correct()], Judging()).verdicts["correct"].bucket for i in range(60)}
    assert not buckets & set(FAILING)


def test_a_wrong_rule_of_the_derivative_of_an_op_is_found_by_the_profile_of_orders():
    orders = replace(ORDERS, ops=("sin",))
    engine = open_backend("conformance.mutants.engines:cos-x-sign")
    assert any(run_case(case_of(9, i, orders), [engine]).verdicts[engine.info.name].bucket in FAILING for i in range(20))


def test_the_profile_of_orders_takes_the_ops_that_are_named(tmp_path):
    done = conformance(
        "run", "--profile", "orders", "--ops", "tanh", "--backends", "reference", "--cases", "3", "--jobs", "1", "--out", tmp_path
    )
    assert 0 == done.returncode, done.stderr
    assert "derivative of tanh @3" in (tmp_path / "run.ndjson").read_text()


@pytest.mark.frameworks
@pytest.mark.filterwarnings("ignore:Tensor do not have 'place' interface")
def test_programs_of_the_profile_of_orders_conform():
    engine, tanh = open_backend("paddle-static"), replace(PROGRAMS, ops=("tanh",))
    assert {Bucket.AGREED} == {run_case(case_of(3, i, tanh), [engine], Judging()).verdicts["paddle-static"].bucket for i in range(4)}


@pytest.mark.frameworks
def test_the_profile_of_orders_runs_programs_where_all_backends_do(tmp_path):
    asked = ("--profile", "orders", "--ops", "tanh", "--backends", "paddle-static", "--cases", "3", "--jobs", "1")
    done = conformance("run", *asked, "--out", tmp_path)
    assert 0 == done.returncode, done.stderr
    assert "derivative of tanh @2" in (tmp_path / "run.ndjson").read_text()


def test_profiles_have_no_programs():
    assert not any(is_program(index, replace(MODELS, mixed=True)) for index in range(2000))


def test_a_record_names_the_profile_and_its_odds_and_is_the_same_for_any_number_of_jobs(tmp_path):
    ids = []
    for jobs in (1, 2):
        out = tmp_path / str(jobs)
        run_campaign(Options(("reference",), 6, draw=MODELS, jobs=jobs, out=out))
        records = list(read(out / "run.ndjson"))
        header = records[0]
        assert isinstance(header, Header)
        assert ("model", odds_of(MODELS)) == (header.profile, header.odds)
        ids.append([record.id for record in sorted((r for r in records if isinstance(r, CaseRecord)), key=lambda r: r.index)])
    assert ids[0] == ids[1] == [case_of(1, index, MODELS).id for index in range(6)]


def test_a_profile_names_its_own_odds_and_those_of_values_alone():
    assert {"sketch", "deep"} == {name.partition(".")[0] for name in odds_of(DEEP_SCRIPTS)}
    assert not [name for name in odds_of(DrawOptions()) if name.startswith("deep.")]


WRONG = {
    "no such profile": (["--profile", "deeper"], "'deeper' is not one of 'usual', 'deep', 'model', 'orders'"),
    "ops": (["--profile", "model", "--ops", "mul"], "--ops says nothing beside --profile model, which has ops of its own"),
    "programs": (
        ["--profile", "deep", "--backends", "torch,paddle-static"],
        "--profile deep is of eager scripts, and paddle-static runs programs",
    ),
    "the grid": (["--profile", "deep", "--grid"], "--profile says nothing beside --grid: nothing in it is drawn"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_makes_no_sense_beside_a_profile_is_one_line(what, tmp_path):
    arguments, said = WRONG[what]
    done = conformance("run", *arguments, "--out", tmp_path)
    assert (2, True, 1) == (done.returncode, said in done.stderr, len(done.stderr.splitlines())), done.stderr


def test_a_run_of_a_profile_says_so_and_another_profile_does_not_go_on_with_it(tmp_path):
    done = conformance("run", "--profile", "model", "--backends", "reference", "--cases", "3", "--jobs", "1", "--out", tmp_path)
    assert 0 == done.returncode, done.stderr
    lines = (tmp_path / "run.ndjson").read_text().splitlines()
    (tmp_path / "run.ndjson").write_text("\n".join(line for line in lines if json.loads(line)["kind"] != "footer") + "\n")
    refused = conformance("run", "--resume", tmp_path, "--profile", "deep")
    assert (2, True) == (refused.returncode, "profile deep contradicts the run" in refused.stderr), refused.stderr
    assert 0 == conformance("run", "--resume", tmp_path).returncode
    assert "<dt>profile</dt><dd>model</dd>" in (tmp_path / "report.html").read_text()


def test_a_page_has_no_picture_of_a_finding_that_nobody_could_read(tmp_path):
    script = case_of(7, 0, SMALL)
    large = msgspec.structs.replace(finding(), case=script, steps=())
    write_html(iter([HEADER, large, FOOTER]), tmp_path / "report.html")
    assert "too large for a picture" in (tmp_path / "report.html").read_text()
    write_html(iter([HEADER, finding(), FOOTER]), tmp_path / "report.html")
    assert "too large for a picture" not in (tmp_path / "report.html").read_text()
