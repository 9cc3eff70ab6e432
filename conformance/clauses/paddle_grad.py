"""Clauses of ``paddle.grad``."""

from conformance.case.case import Case, Input
from conformance.case.steps import Backward, Grad
from conformance.clauses.curated import Curated
from conformance.clauses.shorthand import add, constant, exact, leaf, mul, number, scale, total

_X = leaf("x", 1.0, 2.0)
_W = leaf("w", 3.0, 4.0)
_SEED = constant("g", 1.0, 10.0)
_SQUARES = mul("x", "x", "y")
_SUM = (_SQUARES, total("y", "z"))


def _second_use(*, create_graph: bool) -> Case:
    """Build ``y = x x``, ``z = y + dx``, ``z.backward()``, as the document does."""
    return exact(
        (leaf("x", 1.0),),
        _SQUARES,
        Grad(("y",), ("x",), ("dx",), retain_graph=True, create_graph=create_graph),
        add("y", "dx", "z"),
        Backward(("z",)),
    )


def _two_outputs(seeds: tuple[str | None, ...] | None) -> Case:
    """Build ``y1 = x x``, ``y2 = 3 x`` at 2, as the document does."""
    used = [name for name in seeds or () if name is not None]
    numbers = {"g1": 3.0, "g2": 4.0}
    return exact(
        (number("x", 2.0), *(number(n, numbers[n], differentiable=False) for n in used)),
        mul("x", "x", "y1"),
        scale("x", 3.0, "y2"),
        Grad(("y1", "y2"), ("x",), ("dx",), seeds),
    )


def _cut(form: str | None, *cut: str, inputs: tuple[Input, ...] = (number("x", 3.0),), wanted: tuple[str, ...] = ("x",)) -> Case:
    """Build ``h = x x``, ``y = h x`` at 3 and differentiate ``y`` while nothing flows to what is cut."""
    results = tuple(f"d{name}" for name in wanted)
    call = Grad(("y",), wanted, results, allow_unused=True, no_grad_vars=cut, form=form)  # type: ignore[arg-type]
    return exact(inputs, mul("x", "x", "h"), mul("h", "x", "y"), call)


_CONTRACT = (
    Curated(
        "PG-01",
        "the sum over two outputs for each of two inputs",
        exact((_X, _W, _SEED), _SQUARES, mul("x", "w", "u"), Grad(("y", "u"), ("x", "w"), ("dx", "dw"), ("g", "g"))),
    ),
    Curated(
        "PG-01",
        "a computed input and a leaf above it",
        exact((_X,), _SQUARES, mul("y", "y", "u"), total("u", "z"), Grad(("z",), ("y", "x"), ("dy", "dx"))),
    ),
    Curated("PG-01", "an output is its own input", exact((_X, _SEED), *_SUM, Grad(("y",), ("y",), ("dy",), ("g",)))),
    Curated("PG-02", "one output and one input without lists", exact((_X,), *_SUM, Grad(("z",), ("x",), ("dx",), form="bare"))),
    Curated(
        "PG-02", "tuples", exact((_X, _W, _SEED), mul("x", "w", "y"), Grad(("y",), ("x", "w"), ("dx", "dw"), ("g",), form="tuple"))
    ),
    Curated("PG-02", "lists", exact((_X, _W, _SEED), mul("x", "w", "y"), Grad(("y",), ("w", "x"), ("dw", "dx"), ("g",)))),
    Curated("PG-03", "no seed for an output of two elements", exact((_X,), _SQUARES, Grad(("y",), ("x",), ("dx",)))),
    Curated("PG-03", "no seeds for outputs of different shapes", exact((_X,), *_SUM, Grad(("y", "z"), ("x",), ("dx",)))),
    Curated("PG-04", "None for one output", exact((_X, _SEED), *_SUM, Grad(("y", "z"), ("x",), ("dx",), ("g", None)))),
    Curated(
        "PG-04", "None for an output of two elements", exact((_X,), _SQUARES, total("y", "z"), Grad(("y",), ("x",), ("dx",), (None,)))
    ),
    Curated("PG-04", "a seed without a list", exact((_X, _SEED), _SQUARES, Grad(("y",), ("x",), ("dx",), ("g",), form="bare"))),
    Curated("PG-05", "fewer seeds than outputs", exact((_X, _SEED), *_SUM, Grad(("y", "z"), ("x",), ("dx",), ("g",)))),
    Curated(
        "PG-05",
        "more seeds than outputs",
        exact((_X, _SEED, constant("h", 1.0, 1.0)), _SQUARES, Grad(("y",), ("x",), ("dx",), ("g", "h"))),
    ),
    Curated("PG-05", "no seed in a list for one output", exact((_X,), *_SUM, Grad(("z",), ("x",), ("dx",), ()))),
    Curated(
        "PG-05",
        "as many seeds as outputs",
        exact((_X, _SEED), _SQUARES, mul("y", "x", "u"), Grad(("y", "u"), ("x",), ("dx",), ("g", "g"))),
    ),
)

_LIFETIME = (
    Curated(
        "PG-06",
        "neither flag: the graph is freed",
        exact((_X,), *_SUM, Grad(("z",), ("x",), ("dx",)), Grad(("z",), ("x",), ("dx2",))),
    ),
    Curated(
        "PG-06",
        "create_graph alone: the graph stays",
        exact((_X,), *_SUM, Grad(("z",), ("x",), ("dx",), create_graph=True), Grad(("z",), ("x",), ("dx2",))),
    ),
    Curated(
        "PG-06",
        "create_graph with retain_graph=False: the graph is freed",
        exact((_X,), *_SUM, Grad(("z",), ("x",), ("dx",), retain_graph=False, create_graph=True), Grad(("z",), ("x",), ("dx2",))),
    ),
    Curated(
        "PG-07",
        "a retained graph is differentiated twice",
        exact((_X,), *_SUM, Grad(("z",), ("x",), ("dx",), retain_graph=True), Grad(("z",), ("x",), ("dx2",), retain_graph=True)),
    ),
    Curated(
        "PG-07",
        "a freed graph is not",
        exact((_X,), *_SUM, Grad(("z",), ("x",), ("dx",), retain_graph=False), Grad(("z",), ("x",), ("dx2",))),
    ),
    Curated(
        "PG-07",
        "a retained graph serves backward too",
        exact((_X,), *_SUM, Grad(("z",), ("x",), ("dx",), retain_graph=True), Backward(("z",))),
    ),
    Curated(
        "PG-08",
        "three orders of a cube",
        exact(
            (number("x", 2.0),),
            mul("x", "x", "s"),
            mul("s", "x", "y"),
            Grad(("y",), ("x",), ("d1",), create_graph=True),
            Grad(("d1",), ("x",), ("d2",), create_graph=True),
            Grad(("d2",), ("x",), ("d3",)),
        ),
    ),
    Curated(
        "PG-08",
        "without create_graph there is nothing to differentiate",
        exact((_X,), *_SUM, Grad(("z",), ("x",), ("dx",), retain_graph=True), Grad(("dx",), ("x",), ("ddx",))),
    ),
    Curated(
        "PG-08",
        "the seed's part can be differentiated as well",
        exact(
            (_X, leaf("g", 1.0, 10.0)),
            _SQUARES,
            Grad(("y",), ("x",), ("dx",), ("g",), create_graph=True),
            total("dx", "s"),
            Grad(("s",), ("x", "g"), ("ddx", "dg")),
        ),
    ),
)

_REACH = (
    Curated("PG-09", "no .grad appears", exact((_X, _W), mul("x", "w", "y"), total("y", "z"), Grad(("z",), ("x",), ("dx",)))),
    Curated(
        "PG-09",
        "a .grad that is there stays as it is",
        exact(
            (_X, _W),
            mul("x", "w", "y"),
            total("y", "z"),
            Backward(("z",), retain_graph=True),
            Grad(("z",), ("x",), ("dx",), retain_graph=True),
            Grad(("z",), ("w",), ("dw",)),
        ),
    ),
    Curated("PG-10", "only_inputs=False", exact((_X,), *_SUM, Grad(("z",), ("x",), ("dx",), only_inputs=False), Backward(("z",)))),
    Curated(
        "PG-11",
        "an input that the outputs do not depend on is absent where that is allowed",
        exact(
            (_X, _W),
            *_SUM,
            Grad(("z",), ("x", "w"), ("dx", "dw"), retain_graph=True, allow_unused=True),
            Grad(("z",), ("x", "w"), ("dx2", "dw2"), retain_graph=True),
        ),
        {"dx": [2.0, 4.0]},
    ),
    Curated(
        "PG-11",
        "an input computed beside the outputs",
        exact(
            (_X,),
            *_SUM,
            scale("x", 3.0, "u"),
            Grad(("z",), ("u",), ("du",), retain_graph=True, allow_unused=True),
            Grad(("z",), ("u",), ("du2",), allow_unused=False),
        ),
    ),
    Curated("PG-12", "nothing flows through a computed tensor: in a list", _cut(None, "h"), {"dx": 9.0}),
    Curated("PG-12", "in a tuple", _cut("tuple", "h"), {"dx": 9.0}),
    Curated("PG-12", "in a set", _cut("set", "h"), {"dx": 9.0}),
    Curated("PG-12", "without a container", _cut("bare", "h"), {"dx": 9.0}),
    Curated("PG-12", "nothing flows to an input that is cut", _cut(None, "x")),
    Curated("PG-12", "nothing flows to a computed input that is cut", _cut(None, "h", wanted=("x", "h"))),
    Curated("PG-12", "a tensor that has no part in it changes nothing", _cut(None, "u", inputs=(number("x", 3.0), number("u", 1.0)))),
)

_EXAMPLES = (
    Curated("PG-13", "without create_graph the gradient is a constant", _second_use(create_graph=False), {"x.grad@3": [2.0]}),
    Curated("PG-13", "with create_graph it is differentiated again", _second_use(create_graph=True), {"x.grad@3": [4.0]}),
    Curated("PG-14", "no seeds", _two_outputs(None), {"dx": 7.0}),
    Curated("PG-14", "a seed of 4 for the second output", _two_outputs((None, "g2")), {"dx": 16.0}),
    Curated("PG-14", "a seed of 4 for the first output", _two_outputs(("g2", None)), {"dx": 19.0}),
    Curated("PG-14", "seeds of 3 and 4", _two_outputs(("g1", "g2")), {"dx": 24.0}),
)

CASES = (*_CONTRACT, *_LIFETIME, *_REACH, *_EXAMPLES)
