"""Where the nodes of a picture stand.

Layers by longest path, order within a layer by the mean position of the neighbours, and an edge that spans several layers
keeps a lane free in each of them, so that it never runs behind a node.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

HEIGHT, LANE, ROW_GAP, LAYER_GAP, MARGIN = 44.0, 8.0, 20.0, 44.0, 16.0
TITLE_CHARACTER, NOTE_CHARACTER = 7.4, 6.3
LONGEST_TITLE, LONGEST_NOTE = 30, 36
ORDERING = 12  # sweeps that find the order; as many again straighten the edges


@dataclass(eq=False, slots=True)
class Place:
    """A node, or the lane of an edge through a layer (``kind`` is empty)."""

    kind: str = ""
    title: str = ""
    note: str = ""
    tip: str = ""
    number: int | None = None
    makes: tuple[str, ...] = ()
    plain: bool = False
    layer: int = 0
    x: float = 0.0
    y: float = 0.0
    width: float = 0.0
    neighbours: list[Place] = field(default_factory=list)
    arriving: list[Use] = field(default_factory=list)

    @property
    def height(self) -> float:
        """A node is as high as its two lines of text; a lane leaves room for a stroke."""
        return HEIGHT if self.kind else LANE


@dataclass(eq=False, slots=True)
class Use:
    """A value on its way from a node to another; ``lanes`` are the places that it passes through."""

    source: Place
    target: Place
    role: str
    name: str
    lanes: list[Place] = field(default_factory=list)


def layers_of(places: list[Place], links: list[Use]) -> list[list[Place]]:
    """Sort places into layers, so that every use points to the right, and give every use its lanes."""
    first = reached = 0
    for place in places:  # in the order of the script, so every source has its layer before its uses
        place.layer = max([first, *(u.source.layer + 1 for u in links if u.target is place)])
        if (
            place.kind == "change"
        ):  # other names may share the memory: what came before stands on its left, what comes after on its right
            place.layer = max(place.layer, reached + 1)
            first = place.layer + 1
        reached = max(reached, place.layer)
        title = min(len(place.title), LONGEST_TITLE) * TITLE_CHARACTER
        note = min(len(place.note), LONGEST_NOTE) * NOTE_CHARACTER
        place.width = max(title, note) + 28
    for place in places:  # an input stands next to its first use
        if place.kind == "input":
            place.layer = max(0, min((u.target.layer for u in links if u.source is place), default=1) - 1)
    layers: list[list[Place]] = [[] for _ in range(1 + max(p.layer for p in places))]
    for place in places:
        layers[place.layer].append(place)
    for use in links:
        use.lanes = [Place(layer=n) for n in range(use.source.layer + 1, use.target.layer)]
        chain = [use.source, *use.lanes, use.target]
        for one, other in pairwise(chain):
            one.neighbours.append(other)
            other.neighbours.append(one)
        for lane in use.lanes:
            layers[lane.layer].append(lane)
        use.target.arriving.append(use)
    return layers


def arrange(layers: list[list[Place]]) -> None:
    """Give every place its coordinates; ``y`` is the middle."""
    x = MARGIN
    for layer in layers:
        widest = max(p.width for p in layer)
        _stack(layer)
        for place in layer:
            place.x, place.width = x, place.width or widest
        x += widest + LAYER_GAP
    for sweep in range(2 * ORDERING):
        for layer in layers if sweep % 2 == 0 else layers[::-1]:
            side = -1 if sweep % 2 == 0 else 1
            for place in layer:
                near = [n.y for n in place.neighbours if sweep >= ORDERING or (n.layer - place.layer) * side > 0]
                place.y = sum(near) / len(near) if near else place.y
            if sweep < ORDERING:
                layer.sort(key=lambda p: p.y)
            _stack(layer)
    _close_gaps([p for layer in layers for p in layer])


def _close_gaps(places: list[Place]) -> None:
    """Move everything up to the margin, and parts that share no edge next to each other."""
    bottom, shift = MARGIN - ROW_GAP, 0.0
    for place in sorted(places, key=lambda p: p.y - p.height / 2):
        top = place.y - place.height / 2 + shift
        if top > bottom + ROW_GAP or bottom < 0:
            shift += bottom + ROW_GAP - top
        place.y += shift
        bottom = max(bottom, place.y + place.height / 2)


def _stack(layer: list[Place]) -> None:
    """Push places apart until none overlap, keeping their order and the middle of the layer where they want to be."""
    wanted = sum(p.y for p in layer) / len(layer)
    for above, below in pairwise(layer):
        below.y = max(below.y, above.y + (above.height + below.height) / 2 + ROW_GAP)
    shift = wanted - sum(p.y for p in layer) / len(layer)
    for place in layer:
        place.y += shift
