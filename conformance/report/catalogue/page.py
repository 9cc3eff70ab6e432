"""The page of a finding: what is said of it in a form that a program can read, and the text that a person reads.

A page is the ``README.md`` of a finding's folder. It begins with front matter in YAML, which `Front` describes. Sections follow, of
which `SECTIONS` must be there; that of the script shows the file ``script.py`` beside it, word for word.
"""

from __future__ import annotations

import re
from datetime import date
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from conformance.deviations.findings import conventions_folder, findings_folder

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE, SCRIPT = "README.md", "script.py"
SECTIONS = ("What happens", "What is right", "Script", "Evidence")
"""The headings of every page, in this order."""
OPTIONAL = ("Cause", "Workaround")
"""The headings that a page may have before its evidence."""
HEADING = "## Script\n"
FENCE = "---\n"
SHOWN = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ADDRESS = re.compile(r"https://\S+")
THREAD = re.compile(r"https://\S+ \(.+\)")
"""The address of a thread, and in brackets what it is."""
MARKER = re.compile(r"^(?:[-+*]|\d+[.)]) ", re.MULTILINE)
"""What Markdown takes for the beginning of a list, such as the rest of ``6 - 12j`` on a line of its own."""


class Severity(StrEnum):
    """The worst that a finding does, the gravest first; ``DIGITS``: a value is right, and to fewer digits than its dtype has."""

    CRASH = "memory unsafety or crash"
    VALUE = "silent wrong value"
    REFUSAL = "wrong or missing refusal"
    STATE = "state changed"
    DIGITS = "lost digits"
    METADATA = "flag, dtype, shape or None"
    MESSAGE = "message or document"


class Reach(StrEnum):
    """What it takes to meet a finding, the most usual first; ``EXTREME``: numbers that are very large or small, or single points."""

    PLAIN = "plain code"
    UNUSUAL = "an unusual call"
    EXTREME = "extreme numbers"


class Standing(StrEnum):
    """Whether a promise is broken; ``ARGUABLE``: the maintainers may answer that it is meant so."""

    CONFIRMED = "confirmed"
    ARGUABLE = "arguable"
    UNPROMISED = "promised by nobody"


class Front(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a page says in a form that a program can read.

    Attributes:
        title: as an upstream issue would have it.
        promise: the sentence or the formula that is contradicted.
        source: the address at which it stands.
        checked: for every release that was asked, such as ``torch 2.13.0``, whether the script ``shows`` the bug there or it is
            ``gone``.
        upstream: addresses of threads about it, each with a word on what it is.
        searched: the day on which threads were last looked for; with no thread, none was found.
        cause: the finding that has the same cause, where there is one.
        opens: its place among those with which the index of its framework opens, from 1 on; 0 for all others.
    """

    title: str
    severity: Severity
    reach: Reach
    standing: Standing
    promise: str
    source: str
    checked: dict[str, str]
    upstream: tuple[str, ...] = ()
    searched: date | None = None
    cause: str = ""
    opens: int = 0


class Page(msgspec.Struct, frozen=True):
    """A finding as its page tells it; ``script``: the check, a file of Python; ``folder``: where it lies."""

    folder: Path
    front: Front
    text: str
    script: str

    @property
    def id(self) -> str:
        """The name of the finding."""
        return self.folder.name

    def section(self, heading: str) -> str:
        """Return what stands below a heading of the second level."""
        return self.text.partition(f"## {heading}\n")[2].partition("\n## ")[0].strip()


def with_script(text: str, script: str) -> str:
    """Put a script into the page, in the place of the one that it shows."""
    head, heading, rest = text.partition(HEADING)
    return head + heading + SHOWN.sub(lambda _: f"```python\n{script}```", rest, count=1)


class PageError(ValueError):
    """A page that is not in the form; the message says where and what is wanted."""


def read_page(folder: Path) -> Page:
    """Read the page of a finding.

    Raises:
        PageError: if its front matter is not in the form.
        OSError: if a file is missing.
    """
    fence, _, rest = (folder / PAGE).read_text().partition(FENCE)
    front, found, text = rest.partition(FENCE)
    if fence or not found:
        raise PageError(f"{folder.name}: the page begins with front matter between two lines of ---")
    try:
        said = msgspec.yaml.decode(front, type=Front)
    except msgspec.DecodeError as error:  # of which errors of validation are a kind
        raise PageError(f"{folder.name}: {error}") from None
    return Page(folder, said, text, (folder / SCRIPT).read_text())


def pages() -> tuple[Page, ...]:
    """Read the pages of all findings, and those of what breaks no promise."""
    folders = findings_folder(), conventions_folder()
    return tuple(read_page(path.parent) for folder in folders for path in sorted(folder.glob(f"*/{PAGE}")))


def problems(page: Page) -> Iterator[str]:
    """Say what of a page is not in the form."""
    front = page.front
    headings = [line.removeprefix("## ") for line in page.text.splitlines() if line.startswith("## ")]
    if [heading for heading in headings if heading not in OPTIONAL] != list(SECTIONS):
        yield f"the sections are {', '.join(headings)}; wanted are {', '.join(SECTIONS)}, and allowed {' and '.join(OPTIONAL)}"
    if not SHOWN.search(page.text.partition(HEADING)[2]) or with_script(page.text, page.script) != page.text:
        yield f"the page does not show {SCRIPT} as it is; conformance findings --write mends that"
    if found := MARKER.search(SHOWN.sub("", page.text)):
        yield f"a line begins with {found[0]!r}, which is taken for a list; break it elsewhere"
    if "assert " not in page.script and "AssertionError(" not in page.script:
        yield f"{SCRIPT} asserts nothing"
    if re.search(r"^\s*(import|from) (numpy|conformance|reference_impl)\b", page.script, re.MULTILINE):
        yield f"{SCRIPT} imports more than the framework"
    if len(front.title) > 110 or front.title.endswith("."):
        yield "the title is longer than 110 characters, or ends with a full stop"
    if not ADDRESS.fullmatch(front.source):
        yield f"the source {front.source!r} is no address"
    yield from (
        f"{thread!r} of upstream is no address with what it is in brackets" for thread in front.upstream if not THREAD.fullmatch(thread)
    )
    if not front.upstream and front.searched is None:
        yield "neither a thread of upstream nor the day on which none was found (searched) is named"
    if not front.checked or not set(front.checked.values()) <= {"shows", "gone", "not offered"}:
        yield "checked says of each release whether the script 'shows' the bug there, it is 'gone', or it is 'not offered'"
    if not front.promise:
        yield "nothing is promised"
