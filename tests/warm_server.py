"""Warms up the server from which the workers of the tests are forked; to be imported by that process and nobody else.

It knows more than the server of a run does: what the canaries of the engines answer that most tests run. The worker of each pool, of
which the tests open a hundred, would find that out again.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import conformance.campaign.workers.warm_server  # noqa: F401 - which imports the frameworks
from conformance.campaign.workers.examination import begin
from conformance.campaign.workers.warm_up import MANY, prepare_for

begin()
with TemporaryDirectory() as folder:
    prepare_for(MANY + 1, ("reference", "torch", "paddle", "tests.wrong_engines:correct"), Path(folder))
