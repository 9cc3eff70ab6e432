"""Random autograd scripts over random graphs.

A script is a few episodes: grow the graph, then call `backward` or `grad` in some way (once, twice on the same graph, on a graph that
was freed, on derivatives that were computed before), sometimes with state steps in between and sometimes wrongly on purpose.
Test writers have habits that hide bugs; the generator breaks them by default: a random subset of the inputs is differentiable, seeds
are never just ones, gradients are asked for a subset, only some outputs of an op are used.
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from conformance.generate.episodes import Habits, draw_episode, draw_missed, grow
from conformance.generate.odds import USUAL, Odds, named, named_part
from conformance.generate.offered import LEFT_OUT, as_offered
from conformance.generate.profiles.deep import draw_deep
from conformance.generate.profiles.models import draw_model
from conformance.generate.profiles.odds import DEEP, MODEL, ORDERS, DeepOdds, ModelOdds, OrdersOdds
from conformance.generate.profiles.orders import draw_orders
from conformance.generate.programs import draw_program
from conformance.generate.sketch import Sketch
from conformance.generate.sources import FastSource
from conformance.ops import catalogue
from conformance.ops.dtypes import COMPLEX, OTHER_KIND, OTHER_PRECISION
from conformance.ops.orders import OF_PARTS, highest_order
from conformance.ops.spec import Drawn
from reference_impl import DIALECTS, PADDLE_STATIC

if TYPE_CHECKING:
    from conformance.case.case import Case
    from conformance.generate.profiles import Profile
    from conformance.ops.sampler import Source

LANES = ("exact", "numeric")
Kind: TypeAlias = Literal["real", "complex", "static"]
Company: TypeAlias = tuple[str, tuple[int, ...], tuple[tuple[bool, ...], ...]]
"""The op, if it is one for itself; its highest order of derivative in each dialect; which kinds of numbers it takes in each lane."""
CURVED = ("elementary", "reduction")
LATER = 2
"""In a campaign over all ops one script in `LATER` is about an op that came later; two thirds of all ops did. See `usual_later`."""
TURNS = 1 << 62
"""The number of the first stream that orders the ops of a turn; the streams below are those of cases."""
TRIES = 3
"""How often a script tries to begin with the op that it is about, whose operands or results may not fit."""


@dataclass(frozen=True)
class DrawOptions:
    """What a campaign draws from: which lanes and ops (``None``: all), what kinds of script, and with which odds.

    They are what people vary; the odds are everything else. `odds_of` names both for the record of a run.
    """

    lanes: tuple[str, ...] = LANES
    ops: tuple[str, ...] | None = None
    longest: int = 8  #: At most so many ops before the first call: longer graphs cost more and find little that shorter ones do not.
    static: bool = False  #: Programs, not eager scripts.
    mixed: bool = False  #: Eager scripts, and programs as `is_program` deals them out.
    later: int = 0  #: One eager script in ``later`` is about an op that came later (`Drawn.NAMED`), as `case_of` deals it out; 0: none.
    about: str | None = None  #: The op that came later that a script is about: it begins with it, and has a few others beside it.
    team: tuple[str, ...] = ()  #: The ops that a script of the profile `orders` is about.
    unbounded: bool = False  #: A script over infinities and NaN as well, whose ops compare no numbers with each other.
    customs: float = 0.03  #: A custom function follows an op; none does where the ops are given.
    changing: float = 0.1  #: A script that changes tensors in place: much of it is refused, and a refusal hides what follows.
    complexes: float = 0.12  #: A script over complex tensors, which few ops of the catalogue are about.
    #: What no backend of the run takes: dtypes, which no script is over (a mistake may still be of one), ops (``op:erf``), calls.
    without: tuple[str, ...] = ()
    odds: Odds = USUAL
    profile: Profile = "usual"  #: What is drawn: the usual scripts, or those of another kind (`conformance.generate.profiles`).
    deep: DeepOdds = DEEP  #: The odds of the profile `deep`.
    model: ModelOdds = MODEL  #: The odds of the profile `model`.
    orders: OrdersOdds = ORDERS  #: The odds of the profile `orders`.


def usual_later(ops: tuple[str, ...] | None, profile: Profile) -> int:
    """Return what a campaign has for `DrawOptions.later`: where ops are given, or a profile has its own, nothing came later."""
    return LATER if ops is None and profile == "usual" else 0


def odds_of(options: DrawOptions) -> dict[str, float]:
    """Return all numbers that cases are drawn with, by name: the options' own, and those of their odds.

    A profile has its own, and those of values.
    """
    if options.profile != "usual":
        return named_part("sketch", options.odds.sketch) | named_part(options.profile, getattr(options, options.profile))
    own = {"longest": float(options.longest), "customs": options.customs, "changing": options.changing, "complexes": options.complexes}
    own["later"] = float(options.later)
    return own | named(options.odds)


UNBOUNDED = 20
"""One case in so many may have numbers that are not finite: few, since they say little of others. See `is_unbounded`."""
BLOCK = 50
"""Programs come in blocks, since they run in processes of their own: what runs them starts threads, and cannot be forked then."""
EAGER_BLOCKS = 19
"""How many blocks of eager scripts come before each of programs, which cost more and find less."""


def is_program(index: int, options: DrawOptions) -> bool:
    """Whether case ``index`` of a seed is a program."""
    return options.static or (options.profile == "usual" and options.mixed and index // BLOCK % (EAGER_BLOCKS + 1) == EAGER_BLOCKS)


def is_unbounded(index: int, options: DrawOptions) -> bool:
    """Whether case ``index`` of a seed has infinities and NaN.

    It is about no op that came later, and none was asked for. What such numbers become is settled where rules multiply and add, and not
    where they select by an order; of the ops that came later it has not been looked at.
    """
    usual = options.profile == "usual" and options.ops is None and ("exact" in options.lanes or not is_program(index, options))
    return options.unbounded or (usual and index % UNBOUNDED == UNBOUNDED // 2)


def dealt(seed: int, index: int, options: DrawOptions) -> str | None:
    """Return the op that came later that case ``index`` of a seed is about; ``None`` where it is a program, or about no single op.

    Each op has its turn before one has the next, in an order that the seed and the turn decide.
    """
    every, names = 0 if is_program(index, options) else options.later, _later(options.lanes, options.without)
    if options.profile != "usual" or not every or not names or index % every != every - 1:
        return None
    turn, place = divmod(index // every, len(names))
    return _in_turn(seed, turn, names)[place]


def team_of(seed: int, index: int, options: DrawOptions) -> tuple[str, ...]:
    """Return the ops that case ``index`` of a seed is about in the profile `orders`; each has its turn before one has the next."""
    if options.profile != "orders":
        return ()
    names, size = _turns(options), options.orders.together
    alike = tuple(_company(name, options.without, static=options.static) for name in names)
    many = sum(math.ceil(count / size) for count in Counter(alike).values())
    turn, place = divmod(index, many)
    return _teams(seed, turn, names, alike, size)[place]


@functools.lru_cache(maxsize=4)
def _teams(seed: int, turn: int, names: tuple[str, ...], alike: tuple[Company, ...], size: int) -> list[tuple[str, ...]]:
    """Put ops together that are alike, in the order in which they have their turn."""
    source, companies = FastSource(seed, TURNS + turn), dict(zip(names, alike, strict=True))
    groups: dict[Company, list[str]] = {}
    for name in source.shuffled(names):
        groups.setdefault(companies[name], []).append(name)
    return source.shuffled([tuple(group[at : at + size]) for group in groups.values() for at in range(0, len(group), size)])


@functools.cache
def _company(name: str, without: tuple[str, ...], *, static: bool) -> Company:
    """Return what ops have in common that stand in one script: one that is refused, or has roundings, imposes that on the others.

    A formula is one for itself, since nobody knows to which order its parts go.
    """
    dialects = (PADDLE_STATIC,) if static else tuple(DIALECTS.values())
    orders = tuple(highest_order(name, dialect) for dialect in dialects)
    kinds = _kinds(without, static=static)
    taken = tuple(tuple(bool(_offered(exact, False, (name,), without, kind)) for kind in kinds) for exact in (False, True))
    return name if OF_PARTS in orders else "", orders, taken


@functools.lru_cache(maxsize=16)
def _in_turn(seed: int, turn: int, names: tuple[str, ...]) -> list[str]:
    return FastSource(seed, TURNS + turn).shuffled(names)


def case_of(seed: int, index: int, options: DrawOptions) -> Case:
    """Draw case ``index`` of a seed; the same on every machine."""
    static, about, team = is_program(index, options), dealt(seed, index, options), team_of(seed, index, options)
    unbounded = is_unbounded(index, options)
    if (static, about, team, unbounded) != (options.static, options.about, options.team, options.unbounded):
        options = replace(options, static=static, about=about, team=team, unbounded=unbounded)
    return draw_case(FastSource(seed, index), options)


def find_vocabularies(options: DrawOptions) -> None:
    """Find out now which ops each kind of script may have, so that no process has to that is forked from this one."""
    among = [options.ops, *([_later(options.lanes, options.without)] if options.later else []), *map(_unordered, (False, True))]
    for ops, kind, exact, deep in product(among, get_args(Kind), (True, False), (True, False)):
        _offered(exact, deep, ops, options.without, kind)


def draw_case(source: Source, options: DrawOptions) -> Case:
    """Draw a case."""
    if options.profile != "usual":
        return _of_profile(source, options)
    asked = options.ops if options.about is None else (options.about,)
    plain = options.unbounded and options.static  # of programs with such numbers those that round have not been looked at
    kind: Kind = "real" if options.unbounded and not options.static else _kind(source, options, asked)
    exact = plain or (source.choice(options.lanes) == "exact" and bool(_offered(True, False, asked, options.without, kind)))
    odds = options.odds.scripts
    dtype = _dtype(source, options, kind)
    deep = not plain and source.chance(odds.deep)
    vocabulary = _vocabulary(source, options, kind, exact=exact, deep=deep)
    calls = options.odds.unbounded_calls if options.unbounded else options.odds.calls
    sketch = Sketch(source, replace(options.odds, calls=calls), exact=exact, dtype=dtype)
    sketch.unbounded = options.unbounded
    both = (options.ops is None or "cast" in options.ops) and source.chance(odds.both_precisions)
    if both and OTHER_PRECISION[dtype] not in options.without:
        sketch.both_precisions, sketch.promotes = True, not options.static
        if "op:cast" not in options.without:
            vocabulary += ["cast"] * odds.casts
    sketch.lays_out = options.ops is None and not options.static  # ops lay it out; what is fed to a program is contiguous
    if options.static:
        return draw_program(sketch, vocabulary, deep=deep, longest=options.longest)
    _draw_eager(sketch, options, _habits(source, options, vocabulary, deep=deep, writes=kind == "real"))
    return sketch.case()


def _habits(source: Source, options: DrawOptions, vocabulary: list[str], *, deep: bool, writes: bool) -> Habits:
    """Draw what an eager script does, and how often; ``writes``: it may change tensors in place."""
    odds = options.odds.scripts
    state = source.choice(odds.state)
    changes = writes and source.chance(options.changing)
    if changes and source.chance(odds.state_and_writes):
        state = max(odds.state)
    return Habits(vocabulary, deep, state, 0.0 if options.ops else options.customs, changes, "step:grad" not in options.without)


def _draw_eager(sketch: Sketch, options: DrawOptions, habits: Habits) -> None:
    """Draw an eager script: inputs, a graph over them, and episodes that differentiate it and may let it grow."""
    source, odds = sketch.source, options.odds.scripts
    sketch.fresh(sketch.shape())
    for _ in range(source.integer(*odds.more_inputs)):
        sketch.fresh(sketch.shape())
    if options.about is not None:
        for _ in range(TRIES):
            if sketch.add_op(options.about):
                break
    grow(sketch, habits, source.integer(1, options.longest))
    episodes = source.integer(*odds.episodes)
    for left in reversed(range(episodes)):
        draw_episode(sketch, habits, last=left == 0)
    if options.about is not None:
        draw_missed(sketch, habits, options.about)
    if not habits.grads or not set(LEFT_OUT).isdisjoint(options.without):
        sketch.steps = as_offered(sketch.steps, options.without)


def _kind(source: Source, options: DrawOptions, asked: tuple[str, ...] | None) -> Kind:
    """Choose what kind of script is drawn: a program, or an eager script over numbers that the ops ``asked`` for take."""
    kind: Kind = "static" if options.static else "complex" if source.chance(options.complexes) else "real"
    if kind == "complex" and not set(COMPLEX) - set(options.without):
        kind = "real"
    if _offered(False, False, asked, options.without, kind):
        return kind
    return "real" if kind == "complex" else "complex"


def _of_profile(source: Source, options: DrawOptions) -> Case:
    if options.profile == "orders":
        return _of_orders(source, options)
    exact = source.choice(options.lanes) == "exact"
    dtype = _dtype(source, options, "real")
    if options.profile == "deep":
        return draw_deep(source, options.odds, options.deep, exact=exact, dtype=dtype)
    return draw_model(source, options.odds, options.model, exact=exact, dtype=dtype)


def _of_orders(source: Source, options: DrawOptions) -> Case:
    team = options.team or (source.choice(_turns(options)),)
    kinds = [kind for kind in _kinds(options.without, static=options.static) if _offered(False, False, team, options.without, kind)]
    kind = kinds[0] if len(kinds) == 1 else "complex" if source.chance(options.orders.complexes) else "real"
    exact = source.choice(options.lanes) == "exact" and bool(_offered(True, False, team, options.without, kind))
    dtype = _dtype(source, options, kind)
    return draw_orders(source, options.odds, options.orders, team, exact=exact, dtype=dtype, static=options.static)


def _dtype(source: Source, options: DrawOptions, kind: Kind) -> str:
    """Choose the dtype of most inputs of a script."""
    dtype = "float64" if source.chance(options.odds.scripts.float64) else "float32"
    if kind == "complex":
        dtype = OTHER_KIND[dtype]
    return OTHER_PRECISION[dtype] if dtype in options.without else dtype


@functools.cache
def _offered(exact: bool, deep: bool, ops: tuple[str, ...] | None, without: tuple[str, ...], kind: Kind) -> tuple[str, ...]:
    dialects = (PADDLE_STATIC,) if kind == "static" else tuple(DIALECTS.values())

    def fits(name: str) -> bool:
        entry = catalogue()[name]
        of_complex = entry.numbers.taken == "complex"
        own = of_complex or entry.family in ("complex", "fourier")  # what makes complex numbers of real ones, or real ones of these
        taken = own or entry.numbers.taken == "both" if kind == "complex" else not own
        return (
            taken
            and (not exact or entry.is_exact(on_complex=kind == "complex"))
            and (not deep or all(dialect.conventions.highest_order(name) >= 2 for dialect in dialects))
        )

    names = ops or [name for name, entry in catalogue().items() if entry.drawn.unasked(static=kind == "static")]
    return tuple(name for name in names if f"op:{name}" not in without and fits(name))


@functools.cache
def _unordered(static: bool) -> tuple[str, ...]:
    """Return the usual ops, of programs or of eager scripts, that compare no numbers with each other."""
    usual = (name for name, entry in catalogue().items() if entry.drawn.unasked(static=static))
    return tuple(name for name in usual if not catalogue()[name].numbers.ordered)


def _later(lanes: tuple[str, ...], without: tuple[str, ...]) -> tuple[str, ...]:
    """Return the ops that came later, which are drawn only where a script is about them, and that one of these lanes has."""
    return _of_lanes(lanes, without, (Drawn.NAMED,))


def _turns(options: DrawOptions) -> tuple[str, ...]:
    """Return the ops that scripts of the profile `orders` may be about."""
    names = _of_lanes(options.lanes, options.without, tuple(Drawn), static=options.static)
    return names if options.ops is None else tuple(name for name in names if name in options.ops)


@functools.cache
def _of_lanes(lanes: tuple[str, ...], without: tuple[str, ...], drawn: tuple[Drawn, ...], *, static: bool = False) -> tuple[str, ...]:
    names = tuple(name for name, entry in catalogue().items() if entry.drawn in drawn)
    kinds = _kinds(without, static=static)
    taken = {name for kind in kinds for name in _offered("numeric" not in lanes, False, names, without, kind)} if names else set()
    return tuple(name for name in names if name in taken)


def _kinds(without: tuple[str, ...], *, static: bool = False) -> tuple[Kind, ...]:
    if static:
        return ("static",)
    return ("real", "complex") if set(COMPLEX) - set(without) else ("real",)


def _vocabulary(source: Source, options: DrawOptions, kind: Kind, *, exact: bool, deep: bool) -> list[str]:
    """Draw the few ops that this case may use (swarm testing): a deep case mostly keeps to what can be differentiated twice.

    A complex case keeps to fewer. Most of these are ops of complex numbers, or have factors that a rule must conjugate. An op that came
    later has others of these beside it, and such as any other case has.
    """
    odds = options.odds.scripts
    deep = deep and not source.chance(odds.any_order)
    ops, without = _unordered(options.static) if options.unbounded else options.ops, options.without
    offered = _offered(exact, deep, ops, without, kind) or _offered(exact, False, ops, without, kind)
    if options.about is not None:
        others = _offered(exact, False, _later(options.lanes, without), without, kind)
        beside = (*[others] * source.integer(*odds.later_ops), *[offered] * odds.beside_later)
        return [options.about, *(source.choice(names) for names in beside)]
    if kind != "complex":
        return [source.choice(offered) for _ in range(source.integer(*odds.vocabulary))]
    own, curved = ([n for n in offered if catalogue()[n].family in families] or offered for families in (("complex",), CURVED))
    fewer = (*[offered] * source.integer(*odds.complex_vocabulary), *[own] * odds.own_ops, *[curved] * odds.curved_ops)
    return [source.choice(names) for names in fewer]
