"""The tour of the reference engine runs, agrees with the engine, and links to files that there are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "tour.md"
TEXT = PAGE.read_text()


def program_of(page: str) -> str:
    """The blocks of a page, put together; lines keep their numbers."""
    inside, lines = False, []
    for line in page.splitlines():
        fence = line.startswith("```")
        lines.append(line if inside and not fence else "")
        inside = inside != fence
    return "\n".join(lines)


def run(page: str) -> None:
    exec(compile(program_of(page), str(PAGE), "exec"), {"__name__": "tour"})  # noqa: S102 - a page of ours


def missing_links(page: str) -> list[str]:
    return [link for link in re.findall(r"\]\(([\w./-]+)\)", page) if not (PAGE.parent / link).exists()]


def test_the_tour_runs_and_agrees_with_the_engine() -> None:
    run(TEXT)


MISTAKES = {
    "a wrong rule": ("lambda g, x: mul(g, cos(x))", "lambda g, x: mul(g, sin(x))", "first derivative"),
    "a rule that is wrong at order 2 alone": ("neg(mul(g, sin(x)))", "mul(g, sin(x))", "second derivative"),
    "no fan-out": ("add(arrived[place], cotangent) if place in arrived else cotangent", "cotangent", "first derivative"),
    "a graph that is never freed": ("node.released = not", "node.released = False and not", "differentiated again"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_in_the_tour_is_caught_by_its_last_block(mistake: str) -> None:
    right, wrong, message = MISTAKES[mistake]
    assert 1 == TEXT.count(right)
    with pytest.raises(AssertionError, match=message):
        run(TEXT.replace(right, wrong))


def test_every_link_of_the_tour_leads_to_a_file() -> None:
    assert not missing_links(TEXT)


def test_a_link_that_leads_nowhere_is_caught() -> None:
    assert ["../reference_impl/walk.py"] == missing_links("see [walk](../reference_impl/walk.py)")
