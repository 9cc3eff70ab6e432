"""How the benchmarks measure: interleaved repeats by processor time, as waiting is no work, and the median of the ratios of each."""

from __future__ import annotations

import gc
import statistics
from time import process_time
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class Figure(NamedTuple):
    """One line of the table: what it is called, the ratio, what it should be, and the times behind it."""

    name: str
    ratio: float
    aim: str
    measured: str


def seconds(work: Callable[[], object]) -> float:
    """Return the processor time of one call, all threads of this process together, while the garbage collector waits."""
    gc.collect()
    gc.disable()
    try:
        started = process_time()
        work()
        return process_time() - started
    finally:
        gc.enable()


def interleaved(works: Mapping[str, Callable[[], object]], repeats: int) -> dict[str, list[float]]:
    """Time several kinds of work in turn, ``repeats`` times, after one round to warm up."""
    for work in works.values():
        work()
    rounds = [{name: seconds(work) for name, work in works.items()} for _ in range(repeats)]
    return {name: [taken[name] for taken in rounds] for name in works}


def ratio(times: Mapping[str, list[float]], over: str, under: str, *, per: int, what: str, aim: str) -> Figure:
    """Make the figure ``over / under`` from interleaved times, each of ``per`` pieces of work."""
    middle = statistics.median(a / b for a, b in zip(times[over], times[under], strict=True))
    each = [f"{1e3 * statistics.median(times[name]) / per:.3f} ms" for name in (over, under)]
    return Figure(f"{over} / {under}, {what}", middle, aim, " / ".join(each))
