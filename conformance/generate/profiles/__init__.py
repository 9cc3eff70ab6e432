"""Scripts of another kind than the usual ones, drawn where a campaign asks for them by the name of a profile."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

Profile: TypeAlias = Literal["usual", "deep", "model", "orders"]
"""What is drawn: scripts as people might write them; over graphs of thousands of nodes; over models, as training does it; over a few
ops, each of which is differentiated three times."""
PROFILES: tuple[Profile, ...] = get_args(Profile)
