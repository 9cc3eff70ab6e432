"""Open choices: what is asked, how it is answered, and the files that the answers are kept in."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from conformance.campaign.records.choices import text_of
from reference_impl import OPS, PADDLE, TORCH, AutogradError, Category, backward, grad, tensor, update_in_place
from reference_impl.dialects.conventions import (
    FOLDER,
    UNBOUNDED,
    Conventions,
    ConventionsError,
    Kind,
    Lock,
    OpenChoice,
    conventions,
    locked,
    read,
)

if TYPE_CHECKING:
    from pathlib import Path

mul, sin, add = OPS["mul"], OPS["sin"], OPS["add"]


def under(options: dict[OpenChoice, str], dialect: Any = TORCH) -> Any:
    return replace(dialect, conventions=Conventions(options))


def refusal(call: Any) -> Category | None:
    try:
        call()
    except AutogradError as error:
        return error.category
    return None


def second_derivative(dialect: Any) -> None:
    x = tensor(2.0, requires_grad=True)
    (first,) = grad([sin(x)], [x], create_graph=True, dialect=dialect)
    grad([first], [x], dialect=dialect)


def second_pass(dialect: Any, op: Any = mul) -> None:
    x = tensor(2.0, requires_grad=True)
    y = op(x, x)
    backward([y], dialect=dialect)
    backward([y], dialect=dialect)


def pass_after_a_write(dialect: Any) -> None:
    x, c = tensor(2.0, requires_grad=True), tensor(3.0)
    y = mul(x, c)
    update_in_place(OPS["mul_scalar"], c, other=2.0, dialect=dialect)
    backward([y], dialect=dialect)


def pass_with_a_number_for_a_flag(dialect: Any) -> None:
    backward([sin(tensor(2.0, requires_grad=True))], retain_graph=1, dialect=dialect)


def gradient_in_a_constant(dialect: Any) -> None:
    x, c = tensor(2.0, requires_grad=True), tensor(3.0)
    grad([mul(x, c)], [x, c], allow_unused=True, dialect=dialect)


def constant_among_the_roots(dialect: Any) -> None:
    backward([sin(tensor(2.0, requires_grad=True)), tensor(3.0)], dialect=dialect)


def pass_with_a_seed(dtype: str) -> Any:
    def script(dialect: Any) -> None:
        backward([sin(tensor(2.0, requires_grad=True))], [tensor(np.ones((), dtype))], dialect=dialect)

    return script


@pytest.mark.parametrize(
    ("about", "script", "category"),
    [
        (("flag", "that is no bool"), pass_with_a_number_for_a_flag, Category.BAD_ARGUMENT),
        (("input", "that requires no gradient"), gradient_in_a_constant, Category.NOT_DIFFERENTIABLE),
        (("root", "that requires no gradient"), constant_among_the_roots, Category.ROOT_WITHOUT_GRAPH),
        (("seed", "of another kind"), pass_with_a_seed("complex64"), Category.DTYPE),
        (("seed", "of another precision"), pass_with_a_seed("float32"), Category.DTYPE),
    ],
)
def test_a_choice_decides_whether_a_call_minds_what_it_is_handed(about: tuple[str, str], script: Any, category: Category) -> None:
    choice = OpenChoice(Kind.ALLOWED, *about)
    taken: list[dict[OpenChoice, str]] = [{}, {choice: "computed"}, {choice: "refused"}]
    assert [None, None, category] == [refusal(lambda options=options: script(under(options))) for options in taken]


@pytest.mark.parametrize(
    ("choice", "by_formula", "script", "category"),
    [
        (OpenChoice(Kind.OFFERED, "sin", "order 2"), "computed", second_derivative, Category.NOT_IMPLEMENTED),
        (OpenChoice(Kind.FREED, "mul", "x"), "refused", second_pass, Category.GRAPH_FREED),
        (OpenChoice(Kind.KEPT, "mul", "x y"), "refused", pass_after_a_write, Category.IN_PLACE_VERSION),
    ],
)
def test_a_choice_decides_between_computing_and_refusing(choice: OpenChoice, by_formula: str, script: Any, category: Category) -> None:
    expected = {"computed": None, "refused": category}
    assert expected[by_formula] == refusal(lambda: script(under({})))
    both = {choice: "refused"}, {choice._replace(about="x"): "computed", choice._replace(about="y"): "computed", choice: "computed"}
    assert [category, None] == [refusal(lambda options=options: script(under(options))) for options in both]


@pytest.mark.parametrize(("dialect", "recorded"), [(TORCH, True), (PADDLE, False)], ids=["torch", "paddle"])
def test_an_order_that_is_not_offered_is_refused_by_the_call_that_runs_it_or_by_the_one_that_would_record_it(
    dialect: Any, recorded: bool
) -> None:
    refusing = under({OpenChoice(Kind.OFFERED, "sin", "order 2"): "refused"}, dialect)
    x = tensor(2.0, requires_grad=True)
    first = refusal(lambda: grad([sin(x)], [x], create_graph=True, dialect=refusing))
    assert (None if recorded else Category.NOT_IMPLEMENTED) == first
    assert Category.NOT_IMPLEMENTED == refusal(lambda: second_derivative(refusing))


@pytest.mark.parametrize(("option", "expected"), [("formula", (None, False)), ("linked", (0.0, True)), ("cut", (None, False))])
def test_a_choice_decides_whether_a_derivative_that_vanishes_is_absent(option: str, expected: Any) -> None:
    dialect = under({OpenChoice(Kind.CONNECTED, "mul_scalar", "x alone"): option})
    x = tensor(2.0, requires_grad=True)
    (first,) = grad([OPS["mul_scalar"](x, other=3.0)], [x], create_graph=True, dialect=dialect)
    second = grad([first], [x], allow_unused=True, dialect=dialect)[0] if first.requires_grad else None
    assert expected == (None if second is None else second.array, first.requires_grad)


def test_what_a_run_asks_is_noted_with_its_answer() -> None:
    noting = replace(PADDLE, conventions=PADDLE.conventions.noting())
    second_derivative(noting)
    expected = {OpenChoice(Kind.OFFERED, "sin", "order 2"): "computed", OpenChoice(Kind.CONNECTED, "sin", "x alone"): "formula"}
    assert expected.items() <= noting.conventions.noted.items()


def test_only_what_arises_is_asked() -> None:
    noting = replace(TORCH, conventions=Conventions().noting())
    backward([mul(x := tensor(2.0, requires_grad=True), x)], dialect=noting)
    assert {} == noting.conventions.noted


def test_what_was_written_is_asked_for_in_one_order_whatever_the_seed_of_hashes() -> None:
    noting = replace(TORCH, conventions=Conventions().noting())
    x, c = tensor(2.0, requires_grad=True), tensor(3.0)
    u = OPS["mul_scalar"](x, other=1.0)
    y = mul(u, c)
    for written in (c, u, y):
        update_in_place(OPS["mul_scalar"], written, other=2.0, dialect=noting)
    refusal(lambda: backward([y], dialect=noting))
    kept = [choice.about for choice in noting.conventions.noted if choice.op == "mul"]
    assert ["x out", "x x", "x y"] == kept


@pytest.mark.parametrize(("gaps", "refuses"), [(True, False), (False, True)])
def test_of_an_operand_with_gaps_between_its_elements_a_copy_may_be_kept(gaps: bool, refuses: bool) -> None:
    copying = Conventions({OpenChoice(Kind.KEPT, "mul", "x y(strided)"): "computed"})
    dialect = replace(TORCH, conventions=copying)
    x, m = tensor(np.ones((2, 2)), requires_grad=True), tensor(np.ones((2, 4)))
    part = OPS["getitem_slice"](m, key=[[0, 2, 1], [0, 2, 1]] if gaps else [[0, 2, 1], [0, 4, 1]])
    y = OPS["sum"](mul(x, part) if gaps else mul(OPS["cat"](x, x, axis=1), part), axis=None, keepdims=False)
    update_in_place(OPS["mul_scalar"], m, other=2.0, dialect=dialect)
    assert refuses == (refusal(lambda: backward([y], dialect=dialect)) == Category.IN_PLACE_VERSION)


@pytest.mark.parametrize("option", ["computed", "refused"])
def test_of_an_operand_with_gaps_the_same_is_expected_as_of_any_other(option: str) -> None:
    known = Conventions({OpenChoice(Kind.KEPT, "mul", "x y"): option})
    dialect = replace(TORCH, conventions=known.noting())
    x, m = tensor(np.ones((2, 2)), requires_grad=True), tensor(np.ones((2, 4)))
    y = OPS["sum"](mul(x, OPS["getitem_slice"](m, key=[[0, 2, 1], [0, 2, 1]])), axis=None, keepdims=False)
    update_in_place(OPS["mul_scalar"], m, other=2.0, dialect=dialect)
    refusal(lambda: backward([y], dialect=dialect))
    assert option == dialect.conventions.noted[OpenChoice(Kind.KEPT, "mul", "x y(strided)")]


def test_what_was_answered_before_is_answered_anew_under_other_options() -> None:
    known = Conventions()
    second_derivative(replace(TORCH, conventions=known))
    refusing = known.but({OpenChoice(Kind.OFFERED, "sin", "order 2"): "refused"})
    assert Category.NOT_IMPLEMENTED == refusal(lambda: second_derivative(replace(TORCH, conventions=refusing)))
    noting = known.noting()
    second_derivative(replace(TORCH, conventions=noting))
    assert {Kind.OFFERED, Kind.CONNECTED} == {choice.kind for choice in noting.noted}


@pytest.mark.parametrize("first", [None, "y"], ids=["after a whole pass", "before a whole pass"])
@pytest.mark.parametrize("told", ["computed", "refused"])
def test_whether_a_pass_for_the_result_alone_frees_and_refuses_is_a_choice_of_its_own(first: str | None, told: str) -> None:
    dialect = under({OpenChoice(Kind.FREED, "mul", f"{name} result"): told for name in "xy"})
    x = tensor(2.0, requires_grad=True)
    y = mul(x, x)
    inputs: list[Any] = [[y], None]
    for asked in inputs if first else reversed(inputs):
        last = refusal(lambda asked=asked: backward([y], inputs=asked, dialect=dialect))
    assert (Category.GRAPH_FREED if told == "refused" else None) == last
    assert Category.GRAPH_FREED == refusal(lambda: [backward([y], dialect=dialect) for _ in range(2)])


def test_a_pass_for_the_result_alone_is_expected_to_do_as_any_other() -> None:
    computed = OpenChoice(Kind.FREED, "mul", "x"), OpenChoice(Kind.FREED, "mul", "y")
    found = []
    for known in ({}, dict.fromkeys(computed, "computed")):
        x = tensor(2.0, requires_grad=True)
        y = mul(x, x)
        backward([y], inputs=[y], dialect=under(known))
        found.append(refusal(lambda y=y, known=known: backward([y], dialect=under(known))))
    assert [Category.GRAPH_FREED, None] == found


def test_an_op_that_nothing_is_known_of_goes_by_its_formula() -> None:
    assert [None, Category.GRAPH_FREED] == [refusal(lambda op=op: second_pass(under({}), op)) for op in (add, mul)]


def test_the_highest_order_is_the_one_before_that_which_is_refused() -> None:
    known = Conventions({OpenChoice(Kind.OFFERED, "sin", "order 3"): "refused", OpenChoice(Kind.OFFERED, "sin", "order 2"): "computed"})
    assert (2, UNBOUNDED) == (known.highest_order("sin"), known.highest_order("cos"))


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.toml")), ids=lambda path: path.stem)
def test_a_file_of_conventions_is_what_is_written_of_what_it_says(path: Path) -> None:
    assert path.read_text() == text_of(read(path))


def test_the_option_that_was_seen_most_is_the_one_that_is_expected(tmp_path: Path) -> None:
    path, choice = tmp_path / "some-1.0.toml", OpenChoice(Kind.FREED, "mul", "x")
    lock = Lock("some", "1.0", {choice: {"computed": 1, "refused": 3}})
    path.write_text(text_of(lock))
    expected = [(known.options[choice], set(known.varying[choice])) for known in map(conventions, (lock, read(path)))]
    assert [("refused", {"refused", "computed"})] * 2 == expected


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[freed", "Expected ']'"),
        ("[fred.refused]", "fred: allowed are backend, version and the tables offered, connected, kept, freed"),
        ("[freed.linked]", "freed.linked: allowed are the tables computed, refused"),
        ('[freed.refused]\n"mul x" = "often"', "'mul x' = 'often' is no choice"),
        ('[offered.refused]\n"mul second" = 1', "'mul second' = 1 is no choice"),
    ],
)
def test_a_file_that_is_none_is_refused_in_one_line(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(text)
    with pytest.raises(ConventionsError) as refused:
        read(path)
    assert problem in str(refused.value)
    assert "\n" not in str(refused.value)


def test_releases_with_a_file_have_their_conventions() -> None:
    assert locked("torch", "2.13") == TORCH.conventions
