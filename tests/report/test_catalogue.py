"""The catalogue of findings: pages in one form, scripts that say whether the bug is there, and an index by what they do."""

from __future__ import annotations

import re
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from click import UsageError
from click.testing import CliRunner

from conformance.cli.cataloguing import listing, verify
from conformance.cli.findings import findings
from conformance.deviations.findings import conventions_folder, findings_folders
from conformance.report.catalogue.index import framework_of, gone_in, index, new_in, ranked, write_catalogue
from conformance.report.catalogue.page import Front, Page, PageError, Severity, Standing, pages, problems, read_page
from conformance.report.catalogue.tracker import issue
from conformance.report.catalogue.verify import Showing, Verified, said_by, verified

if TYPE_CHECKING:
    from conformance.campaign.workers.pool import Workers

FOLDERS = [page.parent for folder in findings_folders() for page in sorted(folder.glob("*/README.md"))]
SCRIPT = "assert 1 + 1 == 3, 'the sum is 2'\n"
TEXT = f"""
## What happens

The sum is 2.

## What is right

3.

## Script

```python
{SCRIPT}```

## Evidence

A case.
"""
FRONT: dict[str, Any] = {
    "title": "1 + 1 is 2",
    "severity": "silent wrong value",
    "reach": "plain code",
    "standing": "confirmed",
    "promise": "1 + 1 = 3",
    "source": "https://example.org/sums",
    "checked": {"torch 2.13.0": "shows"},
    "searched": date(2026, 11, 27),
}


@dataclass
class Said:
    """What a page is made of."""

    front: dict[str, Any] = field(default_factory=dict)
    text: str = TEXT
    script: str = SCRIPT


def page(id_: str | Path = "torch-sum", said: Said | None = None, **front: Any) -> Page:
    made = said or Said(front)
    return Page(Path(id_), msgspec.convert(FRONT | made.front, Front), made.text, made.script)


def written(folder: Path, front: bytes, script: str = SCRIPT) -> Path:
    folder.mkdir()
    (folder / "README.md").write_bytes(b"---\n" + front + b"---\n" + TEXT.encode())
    (folder / "script.py").write_text(script)
    return folder


def by_name(folder: Path) -> str:
    return folder.name


@pytest.mark.parametrize("folder", FOLDERS, ids=by_name)
def test_every_page_is_in_the_form(folder: Path) -> None:
    assert not list(problems(read_page(folder)))


def test_what_has_the_cause_of_another_finding_names_one_that_stands_for_itself() -> None:
    found = pages()
    own = {page.id for page in found if not page.front.cause}
    assert not [page.id for page in found if page.front.cause and page.front.cause not in own]


def test_a_page_is_read_as_it_was_written(tmp_path: Path) -> None:
    assert page(tmp_path / "torch-sum") == read_page(written(tmp_path / "torch-sum", msgspec.yaml.encode(FRONT)))


def test_the_page_of_the_model_has_no_problem() -> None:
    assert not list(problems(page()))


WRONG = {
    "a section is missing": (Said(text=TEXT.replace("## What is right", "## Why")), "the sections are What happens, Why"),
    "a section of another name": (Said(text=TEXT.replace("## Evidence", "## Root cause\n\n1.\n\n## Evidence")), "Script, Root cause"),
    "another script is shown": (Said(script="assert 1\n"), "does not show script.py as it is"),
    "a line that is taken for a list": (Said(text=TEXT.replace("The sum is 2.", "It is 3\n- 1.")), "a line begins with '- '"),
    "nothing is asserted": (Said(script="print(2)\n"), "asserts nothing"),
    "more is imported": (Said(script=f"import numpy as np\n{SCRIPT}"), "imports more than the framework"),
    "a sentence for a title": (Said({"title": "1 + 1 is 2."}), "ends with a full stop"),
    "a title that does not end": (Said({"title": "1" * 111}), "longer than 110"),
    "no address": (Said({"source": "the docs"}), "'the docs' is no address"),
    "a thread without an address": (Said({"upstream": ["#1"]}), "'#1' of upstream"),
    "a thread without what it is": (Said({"upstream": ["https://example.org/1"]}), "'https://example.org/1' of upstream"),
    "an address among words": (Said({"source": "see https://example.org"}), "is no address"),
    "no release": (Said({"checked": {}}), "checked says of each release"),
    "an unknown word of a release": (Said({"checked": {"torch 1": "perhaps"}}), "checked says of each release"),
    "nobody looked for threads": (Said({"searched": None}), "neither a thread of upstream nor the day"),
    "no promise": (Said({"promise": ""}), "nothing is promised"),
}


@pytest.mark.parametrize(("said", "problem"), WRONG.values(), ids=WRONG)
def test_a_page_that_is_not_in_the_form_is_told_what_is_wrong(said: Said, problem: str) -> None:
    assert any(problem in found for found in problems(page(said=said)))


@pytest.mark.parametrize(
    ("front", "problem"),
    [
        (b"title: [", "torch-sum: "),
        (b"severity: awful\n", "torch-sum: .*'awful'"),
        (msgspec.yaml.encode(FRONT | {"colour": "red"}), "torch-sum: .*colour"),
    ],
)
def test_front_matter_that_cannot_be_read_is_one_line(front: bytes, problem: str, tmp_path: Path) -> None:
    with pytest.raises(PageError, match=problem):
        read_page(written(tmp_path / "torch-sum", front))


def test_a_page_without_front_matter_is_one_line(tmp_path: Path) -> None:
    folder = written(tmp_path / "torch-sum", b"")
    (folder / "README.md").write_text("# A title\n")
    with pytest.raises(PageError, match="torch-sum: the page begins with front matter"):
        read_page(folder)


SAID = {
    "the bug is there": (SCRIPT, (Showing.SHOWS, "the sum is 2")),
    "it is gone": ("assert 1 + 1 == 2, 'the sum is 3'\n", (Showing.GONE, "")),
    "an error that was not expected": ("assert one == 1\n", (Showing.FAULT, "NameError: name 'one' is not defined")),
    "it is there where the environment is set": (f"import os\nos.environ['A'] = 'b'\n{SCRIPT}", (Showing.SHOWS, "the sum is 2")),
    "a function that the release lacks": (
        "import math\nmath.nothing\n",
        (Showing.NOT_OFFERED, "AttributeError: module 'math' has no attribute 'nothing'"),
    ),
    "a parameter that the release lacks": (
        "import os\nos.makedirs('', given=os.environ)\n",
        (Showing.NOT_OFFERED, "TypeError: makedirs() got an unexpected keyword argument 'given'"),
    ),
    "a dtype of an op that the release lacks": (
        "raise RuntimeError('(NotFound) The kernel with key (CPU, complex64) of kernel `pow` is not registered.')\n",
        (Showing.NOT_OFFERED, "RuntimeError: (NotFound) The kernel with key (CPU, complex64) of kernel `pow` is not registered."),
    ),
    "a derivative that the release lacks": (
        "raise RuntimeError('(Unavailable) The Op roll_grad does' + \"n't have any grad op.\")\n",
        (Showing.NOT_OFFERED, "RuntimeError: (Unavailable) The Op roll_grad doesn't have any grad op."),
    ),
    "it is gone there": ("import os\nassert os.environ\n", (Showing.GONE, "")),
    "a fault there": ("import os\nos.environ['']\n", (Showing.FAULT, "status 1: KeyError: ''")),
    "a script that leaves": ("raise SystemExit(1)\n", (Showing.FAULT, "SystemExit: 1")),
    "a script that cannot be read": ("assert (\n", (Showing.FAULT, "SyntaxError: '(' was never closed (script.py, line 1)")),
}


@pytest.mark.parametrize(("script", "said"), SAID.values(), ids=SAID)
def test_a_script_says_whether_the_bug_is_there(script: str, said: tuple[Showing, str]) -> None:
    assert said == said_by(script)


def test_a_script_whose_process_dies_has_a_fault_and_takes_nobody_along(workers: Workers) -> None:
    scripts = ("import os\nos.abort()\n", SCRIPT)
    found = list(verified([page(said=Said(script=script)) for script in scripts], workers))
    assert [Showing.FAULT, Showing.SHOWS] == [checked.showing for checked in found]


def test_what_does_not_show_is_named_below_all_that_does(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    found = {"torch-a": Showing.GONE, "torch-b": Showing.SHOWS, "torch-c": Showing.FAULT, "torch-d": Showing.GONE}
    monkeypatch.setattr("conformance.cli.cataloguing.Workers", lambda *_: nullcontext())
    monkeypatch.setattr("conformance.cli.cataloguing.verified", lambda asked, _: [Verified(one, found[one.id], "") for one in asked])
    verify([page(id_) for id_ in found], 1, write=False)
    *_, gone, fault, sums = capsys.readouterr().out.splitlines()
    assert ["gone: torch-a, torch-d", "fault: torch-c"] == [gone, fault]
    assert sums.endswith(": 1 shows, 2 are gone, 1 has a fault")


def test_findings_of_frameworks_that_are_not_installed_are_not_passed_over_in_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.cli.cataloguing._version", lambda package: "3.3.1" if package == "paddlepaddle" else None)
    with pytest.raises(UsageError, match=r"^nothing can be verified: torch is not installed$"):
        verify([page("torch-a")], 1, write=False)


def test_only_what_a_message_or_a_document_says_wrongly_has_no_entry_and_what_no_case_can_say() -> None:
    unsaid = [one for one in pages() if not (one.folder / "deviation.toml").is_file() and one.front.severity is not Severity.MESSAGE]
    assert [] == [one.id for one in unsaid if not one.section("Evidence").startswith("There is no case for it")]


def test_the_gravest_and_most_usual_come_first() -> None:
    given = [
        page("torch-arguable", standing="arguable", severity="memory unsafety or crash"),
        page("torch-extreme", reach="extreme numbers"),
        page("torch-crash", severity="memory unsafety or crash"),
        page("torch-plain"),
    ]
    assert ["torch-crash", "torch-plain", "torch-extreme", "torch-arguable"] == [p.id for p in ranked(given)]


def test_of_alike_findings_the_one_that_causes_most_others_comes_first() -> None:
    given = [page("torch-alone"), page("torch-root"), page("torch-below", reach="an unusual call", cause="torch-root")]
    assert ["torch-root", "torch-alone", "torch-below"] == [p.id for p in ranked(given)]


def test_a_finding_stands_below_the_one_that_has_its_cause_and_is_not_counted() -> None:
    lines = index([page("torch-one"), page("torch-other", cause="torch-one")]).splitlines()
    at = lines.index("### Silent wrong value (1)")
    assert ["- [1 + 1 is 2](torch-one/) (plain code)", "  - [1 + 1 is 2](torch-other/) (plain code)"] == lines[at + 2 : at + 4]
    assert "## PyTorch: 1 confirmed finding" in lines


def test_an_issue_has_the_fields_of_its_trackers_form_and_nothing_about_this_suite() -> None:
    text = issue(page(upstream=["https://example.org/1 (open)"]), {})
    assert ["Describe the bug", "Expected", "Versions"] == re.findall(r"^##+ [^\w]*([\w ]+)$", text, re.MULTILINE)
    assert "bug描述 Describe the Bug" in issue(page("paddle-sum"), {})
    assert "Evidence" not in text
    assert f"```python\n{SCRIPT}```" in text
    assert "Seen with torch 2.13.0 on the CPU (Linux, x86-64).\n\nRelated threads:\n- https://example.org/1 (open)\n" in text


def test_an_issue_says_that_no_thread_was_found_where_one_was_looked_for() -> None:
    assert "No thread about it was found on 2026-11-27.\n" in issue(page(searched="2026-11-27"), {})
    assert "No thread" not in issue(page(searched=None), {}) + issue(page(upstream=["https://example.org/1 (open)"]), {})


def test_an_issue_says_what_the_script_found_where_it_was_run() -> None:
    assert "### Actual\n\n```\nAssertionError: the sum is 2\n```\n" in issue(page(), {}, "the sum is 2")


def test_an_issue_shows_the_code_of_the_process_that_dies_and_not_what_starts_it() -> None:
    script = 'import subprocess\nCODE = """\nprint(1)\n"""\nassert subprocess\n'
    text = issue(page(said=Said(script=script)), {}, "it dies of signal 11")
    assert "```python\nprint(1)\n```\n\n### Actual\n\n```\nit dies of signal 11\n```\n" in text


def test_a_paragraph_of_an_issue_is_one_line() -> None:
    told = page(said=Said(text=TEXT.replace("The sum is 2.", "The sum\nis 2.\n\nIt is.")))
    assert "\n\nThe sum is 2.\n\nIt is.\n\n" in issue(told, {})


def test_an_issue_names_another_finding_by_its_title() -> None:
    told = page(said=Said(text=TEXT.replace("The sum is 2.", "The sum is 2, as in `torch-other` and torch-unknown.")))
    assert 'The sum is 2, as in "1 + 2 is 4" and torch-unknown.' in issue(told, {"torch-other": "1 + 2 is 4"})


def test_an_issue_names_the_finding_that_has_its_cause_by_its_title() -> None:
    assert 'It has the same cause as "1 + 2 is 4".' in issue(page(cause="torch-other"), {"torch-other": "1 + 2 is 4"})


def test_an_issue_names_the_releases_that_do_not_show_it() -> None:
    assert "Not seen with torch 2.12.1." in issue(page(checked={"torch 2.13.0": "shows", "torch 2.12.1": "gone"}), {})


@pytest.mark.parametrize("framework", ["torch", "paddle"])
def test_ten_findings_of_each_framework_are_chosen_to_open_its_index(framework: str) -> None:
    chosen = [one.front for one in pages() if framework_of(one) == framework and one.front.opens]
    assert list(range(1, 11)) == sorted(front.opens for front in chosen)
    assert {(Standing.CONFIRMED, "")} == {(front.standing, front.cause) for front in chosen}


def test_what_is_chosen_to_open_the_index_comes_before_what_is_graver() -> None:
    lines = index([page("torch-crash", severity="memory unsafety or crash"), page("torch-chosen", opens=1)]).splitlines()
    at = lines.index("### The strongest (2)")
    assert ["torch-chosen", "torch-crash"] == [line.partition("](")[2].partition("/")[0] for line in lines[at + 2 : at + 4]]


def test_the_page_of_all_shows_code_as_code_and_nothing_as_markup(tmp_path: Path) -> None:
    write_catalogue([page(title="`x < y` & <b>"), page("torch-other", cause="torch-sum")], tmp_path / "all.html")
    text = (tmp_path / "all.html").read_text()
    assert "<summary><code>x &lt; y</code> &amp; &lt;b&gt;" in text
    assert 2 == text.count('<div class="same">')  # among the strongest, and in its group


def test_the_page_of_all_calls_a_thread_by_its_number(tmp_path: Path) -> None:
    write_catalogue([page(upstream=["https://github.com/a/b/issues/1 (open)"])], tmp_path / "all.html")
    assert '<a href="https://github.com/a/b/issues/1">a/b#1</a> (open)' in (tmp_path / "all.html").read_text()


def test_the_page_of_all_shows_code_as_code_in_the_word_on_a_thread(tmp_path: Path) -> None:
    write_catalogue([page(upstream=["https://github.com/a/b/issues/1 (shares `x < y`; open)"])], tmp_path / "all.html")
    assert "a/b#1</a> (shares <code>x &lt; y</code>; open)" in (tmp_path / "all.html").read_text()


def test_the_page_of_all_says_that_no_thread_was_found_where_one_was_looked_for(tmp_path: Path) -> None:
    for searched in ("2026-11-27", None):
        write_catalogue([page(searched=searched)], tmp_path / "all.html")
        assert (searched is not None) is ("No thread about it was found on 2026-11-27." in (tmp_path / "all.html").read_text())


def test_every_link_of_the_contents_leads_to_a_group(tmp_path: Path) -> None:
    write_catalogue([page(), page("paddle-sum", standing="arguable")], tmp_path / "all.html")
    text = (tmp_path / "all.html").read_text()
    links = re.findall(r'href="#([^"]+)"', text)
    assert links == ["PyTorch-The-strongest", "PyTorch-Silent-wrong-value", "Paddle-Arguable"] == re.findall(r'<h3 id="([^"]+)"', text)


def test_the_command_writes_the_page_of_all_and_says_where(tmp_path: Path) -> None:
    ran = CliRunner().invoke(findings, ["torch-shared-grad", "--html", str(tmp_path / "all.html")])
    assert f"page: {tmp_path / 'all.html'}\n" == ran.output
    assert "torch-shared-grad" in (tmp_path / "all.html").read_text()


def test_the_page_of_all_tells_the_cause_where_it_is_known(tmp_path: Path) -> None:
    known = Said(text=TEXT.replace("## Evidence", "## Cause\n\nThe carry is lost.\n\n## Evidence"))
    for said in (known, Said()):
        write_catalogue([page(said=said)], tmp_path / "all.html")
        assert (said is known) is ("<h4>Cause</h4>\n<p>The carry is lost.</p>" in (tmp_path / "all.html").read_text())


@pytest.mark.parametrize(
    ("checked", "release"),
    [
        ({"paddle 3.3.1": "shows", "paddle 3.2.2": "gone"}, "paddle 3.3.1"),
        ({"paddle 3.1.1": "shows", "paddle 3.3.1": "shows", "paddle 3.0.0": "gone"}, "paddle 3.1.1"),
        ({"paddle 3.9.0": "gone", "paddle 3.10.0": "shows"}, "paddle 3.10.0"),
        ({"paddle 3.3.1": "shows", "paddle 3.2.2": "shows"}, ""),
        ({"paddle 3.3.1": "gone", "paddle 3.2.2": "shows", "paddle 3.1.1": "gone"}, ""),
        ({"torch 2.13.0": "shows"}, ""),
    ],
    ids=["by the last", "by an earlier one", "by number", "older than all", "gone again", "one release"],
)
def test_a_finding_is_new_in_the_release_that_brought_it(checked: dict[str, str], release: str) -> None:
    assert release == new_in(page(checked=checked))


def test_the_index_says_what_a_release_brought() -> None:
    new = page("paddle-new", checked={"paddle 3.3.1": "shows", "paddle 3.2.2": "gone"})
    assert "### New in paddle 3.3.1 (1)" in index([new, page("paddle-old")])


@pytest.mark.parametrize(
    ("checked", "release"),
    [
        ({"paddle 3.3.1": "gone", "paddle 3.2.2": "shows"}, "paddle 3.3.1"),
        ({"paddle 3.3.1": "gone", "paddle 3.2.2": "gone", "paddle 3.1.1": "shows"}, "paddle 3.2.2"),
        ({"paddle 3.10.0": "shows", "paddle 3.9.0": "gone", "paddle 3.8.0": "shows"}, ""),
        ({"paddle 3.3.1": "shows", "paddle 3.2.2": "gone"}, ""),
        ({"paddle 3.3.1": "gone"}, ""),
    ],
    ids=["by the last", "by an earlier one", "came back", "new", "never seen"],
)
def test_a_finding_is_gone_in_the_release_that_mended_it(checked: dict[str, str], release: str) -> None:
    assert release == gone_in(page(checked=checked))


def test_what_a_release_mended_stands_in_the_index_by_itself_and_is_not_counted() -> None:
    gone = page("paddle-gone", checked={"paddle 3.3.1": "gone", "paddle 3.2.2": "shows"})
    lines = index([gone, page("paddle-old")]).splitlines()
    assert {"## Paddle: 1 confirmed finding", "### Gone in paddle 3.3.1 (1)"} <= set(lines)
    assert 1 == sum("(paddle-gone/)" in line for line in lines)


@pytest.mark.parametrize("folder", FOLDERS, ids=by_name)
def test_what_breaks_no_promise_lies_among_the_conventions_and_nothing_else_does(folder: Path) -> None:
    assert (read_page(folder).front.standing is Standing.UNPROMISED) is (folder.parent == conventions_folder())


def test_a_finding_whose_cause_is_no_finding_stands_for_itself() -> None:
    assert "1 + 1" in index([page("torch-sum", cause="torch-elsewhere")])


def test_the_list_has_the_findings_by_what_they_are_in_80_columns() -> None:
    long = page("torch-more", title=f"A sum of {' and '.join(['many'] * 20)} terms")
    first, *rows = listing([page(), long, page("torch-worse", severity="memory unsafety or crash")], as_json=False).splitlines()
    assert ("confirmed, memory unsafety or crash, plain code (1):", "  torch-worse: 1 + 1 is 2") == (first, rows[0])
    assert "confirmed, silent wrong value, plain code (2):" == rows[1]
    assert max(map(len, rows)) <= 80
