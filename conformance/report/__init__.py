"""The HTML report: one page from the records of a run.

The records are the result; the page only shows them. It needs no network and no JavaScript, so it can be kept beside the
records, attached to an issue or opened from a CI artifact.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from jinja2 import Environment

    from conformance.campaign.records import Record

__all__ = ["write_html", "write_page"]


def write_html(records: Iterable[Record], path: Path) -> None:
    """Write the report of a run to ``path``; the records are read once and not kept."""
    from conformance.report.view import view_of

    write_page("template.html.j2", path, report=view_of(records))


def write_page(template: str, path: Path, **shown: Any) -> None:
    """Write what is shown to ``path``, by a template of this folder."""
    page = _environment().get_template(template).render(**shown)
    # A framework's message may hold text that is no Unicode; it must not cost the whole report.
    path.write_bytes(page.encode("utf-8", errors="backslashreplace"))


@functools.cache
def _environment() -> Environment:
    """Return what reads the templates; each is compiled once."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # a run that writes no page needs no template engine

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(number=lambda count: f"{count:,}", marked=_marked, breakable=_breakable, thread_name=_thread_name)
    return environment


def _thread_name(address: str) -> str:
    """Shorten the address of a thread on GitHub to what people call it, such as ``pytorch/pytorch#34082``."""
    return re.sub(r"^https://github\.com/([^/]+/[^/]+)/(?:issues|pull)/", r"\1#", address)


def _marked(text: str) -> str:
    """Set as code what stands between backticks."""
    from markupsafe import Markup, escape

    parts = (Markup("<code>{}</code>").format(part) if i % 2 else escape(part) for i, part in enumerate(text.split("`")))
    return Markup("").join(parts)


def _breakable(name: str) -> str:
    """Let the name of a backend or a parameter go on in the next line behind each of its parts."""
    from markupsafe import Markup, escape

    return Markup("<wbr>").join(escape(part) for part in re.split(r"(?<=[_.:])", name))
