"""A finding as an issue for the tracker of its framework: in the fields of the form for bugs, without what is about this suite.

The names of other findings mean nothing there, so their titles are put in their place. A tracker keeps the line breaks of what it is
given, so a paragraph becomes one line. Of a script that starts a process, in order to outlive it, the code of the process is enough.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from conformance.report.catalogue.index import framework_of
from conformance.report.catalogue.verify import RAISED, Showing

if TYPE_CHECKING:
    from collections.abc import Mapping

    from conformance.report.catalogue.page import Front, Page

NAMED = re.compile(r"`?\b((?:torch|paddle)-[a-z0-9-]*[a-z0-9])\b`?")
"""What may be the name of a finding in the prose of a page."""
OF_PROCESS = re.compile(r'^CODE = """\n+(.*?)"""$', re.MULTILINE | re.DOTALL)
"""The code for a process that may die, in a script."""


class Form(NamedTuple):
    """The fields of a form for bugs: what happens, and what else there is to say."""

    bug: str
    more: str


FORMS = {
    "torch": Form("🐛 Describe the bug", "Versions"),
    "paddle": Form("bug描述 Describe the Bug", "其他补充信息 Additional Supplementary Information"),
}
"""How the forms of the trackers have it, in ``.github/ISSUE_TEMPLATE`` of each framework."""
MACHINES = {"torch": "<!-- The output of `python -m torch.utils.collect_env` belongs here. -->"}
"""What a form wants to know of the machine besides."""


def issue(page: Page, titles: Mapping[str, str], came: str = "") -> str:
    """Write a finding as an issue; ``came``: what its script says is wrong, if it was run; ``titles``: those of all findings."""
    front, framework = page.front, framework_of(page)
    form, inner = FORMS[framework], OF_PROCESS.search(page.script)
    parts = [f"# {front.title}", f"## {form.bug}", _told(page, "What happens", titles)]
    parts.append(f"```python\n{inner[1] if inner else page.script}```")
    if came:
        parts += ["### Actual", f"```\n{'' if inner else RAISED}{came}\n```"]
    parts += ["### Expected", f"> {front.promise}\n\n({front.source})", _told(page, "What is right", titles)]
    for heading in ("Cause", "Workaround"):
        if said := _told(page, heading, titles):
            parts += [f"### {heading}", said]
    parts += [f"## {form.more}", _releases(front)]
    if front.cause in titles:
        parts.append(f'It has the same cause as "{titles[front.cause]}".')
    if front.upstream:
        parts.append("\n".join(["Related threads:", *(f"- {thread}" for thread in front.upstream)]))
    elif front.searched:
        parts.append(f"No thread about it was found on {front.searched}.")
    if framework in MACHINES:
        parts.append(MACHINES[framework])
    return "\n\n".join(parts) + "\n"


def _releases(front: Front) -> str:
    """Say on which releases the script was run, all of them on the CPU, and what came."""
    by_answer = {said: [release for release, what in front.checked.items() if what == said] for said in Showing}
    shows, gone = (", ".join(by_answer[said]) for said in (Showing.SHOWS, Showing.GONE))
    return f"Seen with {shows} on the CPU (Linux, x86-64)." + (f" Not seen with {gone}." if gone else "")


def _told(page: Page, heading: str, titles: Mapping[str, str]) -> str:
    """Return the prose below a heading, a line for each paragraph, with the titles of findings in the place of their names."""
    lines = "\n\n".join(" ".join(paragraph.split()) for paragraph in page.section(heading).split("\n\n"))
    return NAMED.sub(lambda found: f'"{titles[found[1]]}"' if found[1] in titles else found[0], lines)
