"""One record per op: what the catalogue, and so the whole suite, knows of an op beside its rule.

Where each reader of a fact keeps a table of its own, keyed by the ops' names, a new op is missing in most of them, and missing means
"unknown" without a word. So everything that is known of an op stands in its row, and whoever needs a fact asks the row; what the rule
says (operands, domain, number of results, views) is read off the rule and not written again.

The framework calls are Python expressions over the op's operands and attributes. The same text is compiled for the adapters and printed
in standalone reproductions, so a reproduction runs what the adapter ran. They are a mapping from the framework's name, and an adapter
may bring calls of its own (`conformance.backends.calls`), so that another framework needs no change to a row.

Example::

    op(
        "relu",
        rank=31,
        draw=unary(),
        calls=both("torch.nn.functional.relu(x)"),
        exact=True,
        numbers=real_only(UNORDERED),
        points=ELEMENTS,
    )

What nearly all rows of a family have in common, the family says once: ``_row = partial(op, exact=True, ...)``.
"""

from __future__ import annotations

import ast
import functools
import inspect
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from conformance.ops.in_place import InPlaceForm, NotOffered
from reference_impl import OPS
from reference_impl.tape.primitive import Primitive

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from conformance.ops.numbers import Numbers
    from conformance.ops.sampler import Draw
    from reference_impl.tape.primitive import Domain


class Growth(StrEnum):
    """How large an op may make numbers of which nothing is known: a script does not build on what may leave the range of its dtype."""

    BOUNDED = "the result is about as large as the operands"
    COMPOUNDS = "a product: large where it is repeated in place"
    IF_COMPLEX = "bounded on real numbers, exponential on complex ones"
    UNBOUNDED = "exponential, a power, or a pole"


class Memory(StrEnum):
    """In whose memory a result lies, and how. That an op is a view at all is said by its rule."""

    OWN = "memory of its own"
    ITSELF = "the operand's: it is the operand that comes back"
    UNLESS_COPIED = "the operand's where nothing has to be moved, and otherwise of its own"
    STRIDED = "the operand's, with gaps or in another order"
    KEEPS_LAYOUT = "the operand's; contiguous where that is"
    RESHAPES = "the operand's, as `KEEPS_LAYOUT`, where the layout allows it, and otherwise a copy"
    DOUBTFUL = "the operand's in one framework, while another copies or refuses to write there"

    @property
    def may_be_operand(self) -> bool:
        """Whether the operand's memory may come back although the op is no view."""
        return self in (Memory.ITSELF, Memory.UNLESS_COPIED)


class Drawn(StrEnum):
    """Which random graphs use an op where none are given; the grid, the special points and ``--ops`` have every op of the catalogue."""

    ALWAYS = "eager scripts and programs"
    IN_PROGRAMS = "programs alone"
    NAMED = "every other eager script is about one of these, each in its turn: they came later"

    def unasked(self, *, static: bool) -> bool:
        """Whether random programs (``static``) or random eager scripts use the op."""
        return self is Drawn.ALWAYS or (static and self is Drawn.IN_PROGRAMS)


@dataclass(frozen=True, slots=True)
class Points:
    """How the sweep of the special points fills an op's operands.

    Attributes:
        width: the length of a row along which the op works; 0 for an op that works element by element.
        first_alone: the first operand runs through the values, and the others hold one.
        distinct: no row holds a value twice.
        several_nan: but for NaN, which is not counted.
    """

    width: int = 0
    first_alone: bool = False
    distinct: bool = False
    several_nan: bool = False


ELEMENTS = Points()
"""Every special value, or every pair of them for two operands, is a place of its own."""
ROWS = Points(width=3)
"""Every row of three."""
PLAIN = None
"""Small numbers: in an op that moves or multiplies matrices one NaN would be everywhere in the answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpSpec:
    """One op of the catalogue.

    Attributes:
        name: as in the reference engine.
        family: where its row stands.
        base_op: what the op universe groups it under; rank: its place there by use in public models.
        draw: choose operands and attributes from a sketch; ``None`` where the sketch offers nothing that fits.
        calls: per framework, the expression; operands and attributes stand under their own names.
        exact: whether dyadic operands of small size give dyadic results and gradients.
        numbers: what its operands may be, real or complex.
        points: how the sweep of the special points fills its operands.
        growth: how large it may make numbers.
        memory: in whose memory its results lie.
        in_place: its form in place, or why that is not offered; ``None`` where neither framework has one.
        corners: further ways to choose operands and attributes, by their names: what `draw` leaves to luck, or leaves out so as not to
            change the scripts of every seed. The grid enumerates them.
        drawn: which random graphs use it unasked.
    """

    name: str
    family: str = ""
    base_op: str
    rank: int
    draw: Draw
    calls: Mapping[str, str]
    exact: bool
    numbers: Numbers
    points: Points | None
    growth: Growth = Growth.BOUNDED
    memory: Memory = Memory.OWN
    in_place: InPlaceForm | NotOffered | None = None
    corners: Mapping[str, Draw] = field(default_factory=dict)
    drawn: Drawn = Drawn.ALWAYS

    @property
    def operands(self) -> tuple[str, ...]:
        """Names of the differentiable operands."""
        return signature(self.name)[0]

    @property
    def attrs(self) -> tuple[str, ...]:
        """Names of the attributes (plain data)."""
        return signature(self.name)[1]

    @property
    def multi_output(self) -> bool:
        """Whether the op returns a list of results (which may have one element)."""
        rule = OPS[self.name]
        return isinstance(rule, Primitive) and rule.multi_output

    @property
    def variadic(self) -> bool:
        """Whether the op takes any number of operands."""
        return signature(self.name)[2]

    @property
    def views(self) -> bool:
        """Whether a result shares memory with the operand."""
        rule = OPS[self.name]
        return isinstance(rule, Primitive) and rule.views

    @property
    def domain(self) -> Mapping[str, Domain]:
        """Per operand, where its elements must lie, as the rule says."""
        rule = OPS[self.name]
        return rule.domain if isinstance(rule, Primitive) else {}

    @property
    def form(self) -> InPlaceForm | None:
        """The form in place that is offered, if one is."""
        return self.in_place if isinstance(self.in_place, InPlaceForm) else None

    def is_exact(self, *, on_complex: bool) -> bool:
        """Whether dyadic operands of small size, real or complex, give dyadic results and gradients."""
        return self.exact and (self.numbers.exact or not on_complex)

    def call(self, framework: str, *, in_place: bool = False) -> str:
        """Return what a framework calls the op, or its form in place."""
        calls = self.calls if not in_place else {} if self.form is None else self.form.calls
        if framework not in calls:
            what = f"{self.name} in place" if in_place else self.name
            msg = f"{what}: the row has no call for {framework}; it has {', '.join(calls) or 'none'}"
            raise LookupError(msg)
        return calls[framework]

    def lower(self, framework: str, module: Any, *, in_place: bool = False) -> Callable[..., Any]:
        """Compile the framework's call; operands are passed in order, attributes by name."""
        source = f"lambda {', '.join((*self.operands, *self.attrs))}: {self.call(framework, in_place=in_place)}"
        return eval(source, {framework: module})  # type: ignore[no-any-return]  # noqa: S307 - text of this package, not of a user

    def text(self, framework: str, operands: list[str], attrs: Mapping[str, Any], *, in_place: bool = False) -> str:
        """Write the framework's call with the given operand names and attribute values."""
        filled: dict[str, str] = {name: repr(value) for name, value in attrs.items()}
        if self.variadic:
            filled[self.operands[0]] = f"[{', '.join(operands)}]"
        else:
            filled.update(zip(self.operands, operands, strict=True))
        return ast.unparse(_Fill(filled).visit(ast.parse(self.call(framework, in_place=in_place), mode="eval")))


def op(
    name: str,
    *,
    rank: int,
    draw: Draw,
    calls: Mapping[str, str],
    exact: bool,
    numbers: Numbers,
    points: Points | None,
    base: str | None = None,
    growth: Growth = Growth.BOUNDED,
    memory: Memory = Memory.OWN,
    in_place: InPlaceForm | NotOffered | None = None,
    corners: Mapping[str, Draw] | None = None,
    drawn: Drawn = Drawn.ALWAYS,
) -> OpSpec:
    """Make a row; see `OpSpec`. ``base`` is the op itself where nothing else is said."""
    return OpSpec(
        name=name,
        base_op=name if base is None else base,
        rank=rank,
        draw=draw,
        calls=calls,
        exact=exact,
        numbers=numbers,
        points=points,
        growth=growth,
        memory=memory,
        in_place=in_place,
        corners=corners or {},
        drawn=drawn,
    )


def rows(family: str, *entries: OpSpec) -> list[OpSpec]:
    """Make the rows of a family."""
    return [replace(entry, family=family) for entry in entries]


class _Fill(ast.NodeTransformer):
    def __init__(self, filled: Mapping[str, str]) -> None:
        self.filled = filled

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id in self.filled:
            return ast.parse(self.filled[node.id], mode="eval").body
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        chosen = self.generic_visit(node)
        match node.test:  # of two forms of a call, a reader wants the one that is meant
            case ast.Compare(left, [ast.Is() | ast.Eq()], [right]) if not any(isinstance(n, ast.Name) for n in ast.walk(node.test)):
                return node.body if ast.literal_eval(left) == ast.literal_eval(right) else node.orelse
        return chosen


@functools.cache
def signature(name: str) -> tuple[tuple[str, ...], tuple[str, ...], bool]:
    """Return the names of an op's operands and of its attributes, and whether it takes any number of operands."""
    rule = OPS[name]
    if isinstance(rule, Primitive):
        return rule.operands, rule.attrs, rule.variadic
    parameters = inspect.signature(rule).parameters.values()
    return (
        tuple(p.name for p in parameters if p.kind is not p.KEYWORD_ONLY),
        tuple(p.name for p in parameters if p.kind is p.KEYWORD_ONLY),
        any(p.kind is p.VAR_POSITIONAL for p in parameters),
    )
