"""Reading, verifying and writing the pages of findings, as the command does it."""

from __future__ import annotations

import re
from importlib import metadata
from itertools import groupby
from textwrap import fill
from typing import TYPE_CHECKING

import click

from conformance.campaign.workers.pool import Workers
from conformance.deviations.findings import conventions_folder, evidence, findings_folder
from conformance.report.catalogue.index import as_json as json_of
from conformance.report.catalogue.index import framework_of, index, index_apart, ranked
from conformance.report.catalogue.page import PAGE, Page, Standing, pages, read_page, with_script
from conformance.report.catalogue.tracker import issue
from conformance.report.catalogue.verify import Showing, verified

if TYPE_CHECKING:
    from collections.abc import Sequence

INDEX = "README.md"
PACKAGES = {"torch": "torch", "paddle": "paddlepaddle"}
"""What installs each framework."""
SUMS = {
    Showing.SHOWS: ("shows", "show"),
    Showing.GONE: ("is gone", "are gone"),
    Showing.NOT_OFFERED: ("is not offered", "are not offered"),
    Showing.FAULT: ("has a fault", "have a fault"),
}
"""What is said of one script that ended so, and of several."""
WIDTH = 80


def chosen(ids: Sequence[str]) -> Sequence[Page]:
    """Read the pages of findings; of all, where none is named.

    Raises:
        click.UsageError: if there is no finding of a name.
    """
    if not ids:
        return pages()
    paths = {name: evidence(name).with_name(PAGE) for name in ids}
    for name, path in paths.items():
        if not path.is_file():
            raise click.UsageError(f"there is no finding {name!r}; conformance findings lists them")
    return [read_page(path.parent) for path in paths.values()]


def for_trackers(found: Sequence[Page], jobs: int) -> str:
    """Run the scripts and return the findings as texts that are ready to be filed, with what came."""
    installed = [name for name, package in PACKAGES.items() if _version(package)]
    asked = [page for page in found if framework_of(page) in installed]
    with Workers(tuple(installed), jobs) as workers:
        came = {page.id: detail for page, showing, detail in verified(asked, workers) if showing is Showing.SHOWS}
    titles = {page.id: page.front.title for page in pages()}
    return "\n".join(issue(page, titles, came.get(page.id, "")) for page in found)


def listing(found: Sequence[Page], *, as_json: bool) -> str:
    """Return the findings by what they are and what it takes to meet them, the gravest first."""
    if as_json:
        return json_of(found)
    lines = []
    for kind, some in groupby(ranked(found), lambda page: f"{page.front.standing}, {page.front.severity}, {page.front.reach}"):
        alike = list(some)
        lines += [f"{kind} ({len(alike)}):", *(_wrapped(f"  {page.id}: {page.front.title}") for page in alike)]
    return "\n".join(lines)


def _wrapped(text: str) -> str:
    return fill(text, WIDTH, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)


def verify(found: Sequence[Page], jobs: int, *, write: bool) -> bool:
    """Run the scripts, say what each found, and return whether one has a fault or differs from what its page says.

    Raises:
        click.UsageError: if the frameworks of all of them are missing.
    """
    releases = {name: f"{name} {version}" for name, package in PACKAGES.items() if (version := _version(package))}
    asked = [page for page in found if framework_of(page) in releases]
    if not asked:
        missing = sorted({framework_of(page) for page in found})
        raise click.UsageError(f"nothing can be verified: {' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} not installed")
    ended: dict[Showing, list[str]] = {showing: [] for showing in Showing}
    differs = False
    with Workers(tuple(releases), jobs) as workers:
        for page, showing, detail in verified(asked, workers):
            release = releases[framework_of(page)]
            ended[showing].append(page.id)
            news = showing is Showing.FAULT or page.front.checked.get(release, showing) != showing
            differs |= news
            click.echo(_wrapped(f"{page.id}: {showing}{' (new)' if news else ''}{f', {detail}' if detail else ''}"))
            if write and showing is not Showing.FAULT:
                _note(page, release, showing)
    for showing, ids in ended.items():
        if ids and showing is not Showing.SHOWS:  # hundreds of lines may stand above, of which nearly all say the same
            click.echo(_wrapped(f"{showing}: {', '.join(ids)}"))
    left = f"; {len(found) - len(asked)} of frameworks that are not installed" if len(asked) < len(found) else ""
    sums = ", ".join(f"{len(ids)} {SUMS[showing][len(ids) > 1]}" for showing, ids in ended.items() if ids)
    click.echo(f"on {', '.join(releases.values())}: {sums}{left}")
    return differs


def _version(package: str) -> str | None:
    try:
        return metadata.version(package).partition("+")[0]
    except metadata.PackageNotFoundError:
        return None


def _note(page: Page, release: str, showing: Showing) -> None:
    """Write into a page what its script says of a release."""
    path = page.folder / PAGE
    checked = {**page.front.checked, release: str(showing)}
    line = f"checked: {{{', '.join(f'{name}: {said}' for name, said in sorted(checked.items(), reverse=True))}}}"
    path.write_text(re.sub(r"^checked: .*$", line, path.read_text(), count=1, flags=re.MULTILINE))


def write(found: Sequence[Page], *, complete: bool) -> None:
    """Write scripts into their pages, and the indexes, if these are all findings."""
    for page in found:
        path = page.folder / PAGE
        path.write_text(with_script(path.read_text(), page.script))
    if complete:
        of_all = pages()  # verifying may have written into them
        apart = [page for page in of_all if page.front.standing is Standing.UNPROMISED]
        (findings_folder() / INDEX).write_text(index([page for page in of_all if page not in apart]))
        (conventions_folder() / INDEX).write_text(index_apart(apart))
