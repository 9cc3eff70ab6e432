"""What a run cost: its time over all workers against what the frameworks need alone, and where the rest went."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from conformance.campaign.records import BARE, PROCESSES
from conformance.case.prose import counted

if TYPE_CHECKING:
    from conformance.campaign.records import Footer

ALONE = "frameworks alone"

PARTS = {"generate": "drawing", "reference": "reference", "judge": "judging", "laws": "laws", "nulls": "null pairs"}
"""The parts of a case that a worker times, in our words."""

WAYS = {
    "done": "processes that ran their chunk to its end: started and ended",
    "poisoned": "processes replaced because the framework was left damaged",
    "crashed": "processes replaced because the framework took them down",
    "examined": "processes replaced to examine what a canary died of",
    "set aside": "cases set aside because they took long",
    "hung": "cases that never came back",
}
"""The ways in which processes end (`conformance.campaign.workers.supervisor`), in words."""


def over_bare(footer: Footer) -> float | None:
    """Return workers x wall time over what the frameworks need for the same cases with nobody looking.

    ``None`` if one did not say, or if the time is not that of all cases.
    """
    asked = [name for name, buckets in footer.ledger.items() if sum(buckets.values())]
    if not asked or any(name not in footer.bare for name in asked) or not is_whole(footer):
        return None
    return footer.jobs * footer.seconds["wall"] / _alone(footer)


def is_whole(footer: Footer) -> bool:
    """Whether the wall time is that of all cases; of a run that was resumed it is that of the last part, in which they have no room."""
    return footer.seconds.get("all", 0.0) <= footer.jobs * footer.seconds.get("wall", 0.0)


def _alone(footer: Footer) -> float:
    return sum(mean * sum(footer.ledger[name].values()) for name, mean in footer.bare.items())


def pace(footer: Footer) -> list[str]:
    """Say how long a run took, and how many cases a second that is."""
    wall = footer.seconds["wall"]
    if not is_whole(footer):
        return [f"{wall:.1f} s since it was resumed"]
    return [f"{wall:.1f} s", f"{footer.cases / max(wall, 1e-9):.0f} cases/s, {counted(footer.jobs, 'worker')}"]


def rows(footer: Footer) -> list[tuple[str, float, str]]:
    """Return what cost how many seconds of a worker, each with a remark; they add up to workers x wall time."""
    seconds = defaultdict(float, footer.seconds)
    frameworks = sum(seconds[name] for name in footer.ledger)
    alone = _alone(footer)
    found = [(ALONE, alone, "from a sample"), ("observing them", frameworks - alone, "")]
    found += [(words, seconds[part], "") for part, words in PARTS.items()]
    named = frameworks + sum(seconds[part] for part in PARTS)
    sampled = sum(spent for name, spent in seconds.items() if name.startswith(BARE))
    found.append(("recording", seconds["all"] - named - sampled, ""))
    found.append(("measuring the frameworks alone", sampled, ""))
    ways = [(words, seconds[f"{PROCESSES}{way}"], str(footer.processes.get(way, 0))) for way, words in WAYS.items()]
    found += [row for row in ways if row[2] != "0"]
    rest = footer.jobs * seconds["wall"] - seconds["all"] - sum(spent for _, spent, _ in ways)
    return [*found, ("starting up, and workers without work", rest, "")]
