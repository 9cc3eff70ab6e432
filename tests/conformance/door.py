"""The command as a test knocks at it: in this process, which has imported everything and keeps its server of workers.

That processes of their own behave alike is what `tests.conformance.runs` is for.
"""

from __future__ import annotations

import os
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from io import StringIO
from typing import NamedTuple
from unittest.mock import patch

from conformance.cli.commands import main
from tests.conformance.engines import ROOT


class Done(NamedTuple):
    """What a command left behind, as `subprocess.CompletedProcess` names it."""

    returncode: int | None
    stdout: str
    stderr: str


def conformance(*arguments: object) -> Done:
    """Run the command in the root of the project, to its end."""
    out, err = StringIO(), StringIO()
    typed = patch.object(sys, "argv", ["conformance", *map(str, arguments)])
    with typed, patch.dict(os.environ), chdir(ROOT), redirect_stdout(out), redirect_stderr(err):
        try:
            main()
        except SystemExit as left:
            code = left.code
    assert isinstance(code, int)
    return Done(code, out.getvalue(), err.getvalue())
