"""The frames in which entries say that a process dies: a regular expression of their own, or a name for what several have in common.

Where a kernel writes past the end of a buffer, the process dies of it later, in whatever next uses that memory: another kernel, the C
library, or Python, in the framework, the suite or what both build on. Lists that each entry kept of where that had been seen were never
complete, so that a crash which is known came out as a new one in one run of many.
"""

from __future__ import annotations

import re

DAMAGED = "damaged memory"
"""The name for a death of memory that was damaged before."""

_NATIVE = r"(egr|paddle|phi)::|GradNode"
_C_LIBRARY = r"malloc|realloc|free\(|double free|corrupted|munmap_chunk"
_FRAMEWORK = ("autograd", "base", "dygraph", "functional", "tensor")
_CAMPAIGN = ("campaign", "findings", "records", "workers")
_JUDGE = ("case", "compare", "conditions", "counterfactuals", "deviations", "judge", "laws")
_REFERENCE = ("dialects", "primitives", "reference_impl", "reverse", "static", "tape")
_SUITE = (*_CAMPAIGN, *_JUDGE, *_REFERENCE, "backends", "families", "generate", "ops", "paddle", "torch")
_BELOW = (r"python3\.\d+", "json", "numpy", "_core", "lib", "re")
_PYTHON = rf"in ({'|'.join((*_FRAMEWORK, *_SUITE, *_BELOW))})/\w+\.py |in <string> <lambda> < backends/"
_NOWHERE = r"SIG(SEGV|ABRT|BUS)( in )?$"

FRAMES = {DAMAGED: f"{_NATIVE}|{_C_LIBRARY}|{_PYTHON}|{_NOWHERE}"}
"""By name, regular expressions over what `campaign.workers.last_words` tells of a death.

An engine that dies in Python of its own, or is killed, is in none of them."""


def is_in(frame: str, detail: str) -> bool:
    """Whether a process died where an entry says, ``frame``: a name, or a regular expression over ``detail``."""
    return re.search(FRAMES.get(frame, frame), detail) is not None
