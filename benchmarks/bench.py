"""Speed, as ratios that are each measured in one run; ``nox -s bench`` prints them.

Every ratio is the median over several repeats; each campaign is one run. In each repeat both sides run one after the other on
the same random graphs, so a machine that is busy for a while slows both; processor time counts, except for campaigns, which are
timed from start to end. Nothing is asserted: the aims stand beside the figures. What is measured is in `engines` (reference,
torch, HIPS autograd), `growth` (long graphs), `checking` (our check against torch's gradcheck) and `campaign` (a whole run
against the time that the frameworks take in it).
"""

from __future__ import annotations

import argparse
import platform
import sys
from importlib.metadata import version
from typing import TYPE_CHECKING

import campaign
import checking
import engines
import growth

if TYPE_CHECKING:
    from collections.abc import Iterator

    from timing import Figure

PARTS = ("engines", "growth", "checking", "campaign")


def main() -> int:
    """Print the table; 1 if the campaign could not be run."""
    options = _options()
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "torch", "paddlepaddle", "autograd"))
    print(f"Python {platform.python_version()}, {packages}")
    print(f"medians of {options.repeats} interleaved repeats on random graphs of 5 to 30 ops, 3x3 float64; campaigns once\n")
    print(f"{'figure':<52} {'ratio':>7}  {'aim':<9} measured")
    try:
        for figure in _figures(options.only or PARTS, options.graphs, options.repeats):
            print(f"{figure.name:<52} {figure.ratio:>7.3f}  {figure.aim:<9} {figure.measured}", flush=True)
    except campaign.CampaignError as error:
        print(f"campaign: {error}", file=sys.stderr)
        return 1
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure speed as ratios.")
    parser.add_argument("--only", action="append", choices=PARTS, help="measure this part; may be given more than once")
    parser.add_argument("--graphs", type=int, default=40, help="random graphs per ratio (default: 40)")
    parser.add_argument("--repeats", type=int, default=9, help="repeats that the median is taken over (default: 9)")
    return parser.parse_args()


def _figures(parts: tuple[str, ...], graphs: int, repeats: int) -> Iterator[Figure]:
    if "engines" in parts:
        yield from engines.figures(graphs, repeats)
    if "growth" in parts:
        yield from growth.figures(max(1, repeats // 3))
    if "checking" in parts:
        yield from checking.figures(max(1, graphs // 4), repeats)
    if "campaign" in parts:
        yield from campaign.figures()


if __name__ == "__main__":
    sys.exit(main())
