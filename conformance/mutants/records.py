"""The records of a measurement on its own, ``mutants.ndjson``: a header, a line for each mutant, and a footer."""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from conformance.campaign.records.gate import MutantsRecord


class PowerHeader(msgspec.Struct, frozen=True, tag_field="kind", tag="header"):
    """What was measured."""

    schema: int
    suite: str
    command: str
    cases: int
    seed: int


class MutantRecord(msgspec.Struct, frozen=True, tag_field="kind", tag="mutant"):
    """One mutant. ``cases``: how many it took to find it out, ``None`` if none did; ``bucket`` and ``at``: as what, at which step."""

    id: str
    sort: str
    part: str
    what: str
    dialect: str
    equivalent: str
    cases: int | None
    bucket: str
    at: str


class PowerFooter(MutantsRecord, frozen=True, tag="footer"):
    """The scores, as a campaign records them, and which targets are missed."""

    missed: tuple[str, ...] = ()


PowerRecord: TypeAlias = PowerHeader | MutantRecord | PowerFooter
