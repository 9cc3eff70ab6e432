"""What each step of a script needs of a backend, in the words by which a backend says that it does not offer something.

Most needs can be read off the step: its kind, its op, its parameters (`conformance.case.steps.parameters`), and the dtypes of the
inputs that it uses. Three of them depend on what other steps did before, and a small engine may well lack them:

- `AGAIN`: a second derivative;
- `BETWEEN`: the gradient of a gradient by a value that lies between the root and the input of the first;
- `ANEW`: a second pass over a graph that has a tensor in common with a pass before it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from conformance.case.steps import Backward, Grad, parameters, results

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from conformance.case.steps import Step

    Names: TypeAlias = Sequence[tuple[str, ...]]

AGAIN = "grad.again"
"""Needed by a call that differentiates what another one returned: a second derivative."""

BETWEEN = "grad.between"
"""Needed by a call that asks for the gradient of a gradient by a value through which that gradient was itself taken.

In ``v = sqrt(x)``, ``g = grad(v, x)``, ``grad(g, v)`` a tape answers by the formula that it has for ``g``: ``1 / (2 v)`` depends on
``v``, and ``x ** -0.5 / 2``, the same number, does not. To an engine that differentiates functions it is no question at all. The same
holds of ``grad(g, x, no_grad_vars=v)``, which is 0 by the first formula.
"""

ANEW = "backward.anew"
"""Needed by a pass through an op that was recorded before an earlier pass, and that took a tensor which the earlier pass went through.

In ``y = exp(x)``, ``z = sin(x)``, ``backward(y)``, ``backward(z)`` a tape that clears what is attached to ``x`` loses the ``sin``, too.
"""


def needs_of(steps: Sequence[Step], used: Names, dtypes: Mapping[str, str]) -> tuple[tuple[str, ...], ...]:
    """Return what each step needs; ``used``: the names that each step uses, ``dtypes``: those of the inputs by name."""
    history = _History(steps, used, {name: number for number, step in enumerate(steps) for name in results(step)})
    by_history = {**_second_derivatives(history), **_second_passes(history)}
    return tuple(
        (
            *parameters(step),
            *dict.fromkeys(f"dtype:{dtypes[name]}" for name in names if name in dtypes),
            *by_history.get(number, ()),
        )
        for number, (step, names) in enumerate(zip(steps, used, strict=True))
    )


class _History(NamedTuple):
    """The steps of a script, the names that each of them uses, and by name the number of the step that made a value."""

    steps: Sequence[Step]
    used: Names
    makers: Mapping[str, int]

    def behind(self, names: Iterable[str]) -> set[str]:
        """Return these values and all that they were made of."""
        found: set[str] = set()
        left = list(names)
        while left:
            name = left.pop()
            if name not in found:
                found.add(name)
                left.extend(self.used[self.makers[name]] if name in self.makers else ())
        return found

    def made_with(self, names: Iterable[str], among: set[str]) -> set[str]:
        """Return which of the values ``among`` were made with one of these; these themselves only if they were, too."""
        found: set[str] = set()
        named = set(names)
        for name in sorted((name for name in among if name in self.makers), key=self.makers.__getitem__):
            if any(operand in named or operand in found for operand in self.used[self.makers[name]]):
                found.add(name)
        return found


def _second_derivatives(history: _History) -> dict[int, tuple[str, ...]]:
    """Return which steps need `AGAIN` or `BETWEEN`, by number."""
    grads = [(number, step) for number, step in enumerate(history.steps) if isinstance(step, Grad)]
    if len(grads) < 2:
        return {}
    behind: dict[int, set[str]] = {}  # by call, what its gradients were made of
    passed: dict[int, set[str]] = {}  # by call, the values through which its gradients were taken
    found = {}
    for number, step in grads:
        by: dict[str, set[str]] = {AGAIN: set(), BETWEEN: set()}
        for name in history.behind(step.outputs):
            call = history.makers.get(name, -1)
            if call in behind:
                by[AGAIN] |= behind[call]
                by[BETWEEN] |= passed[call].union(results(history.steps[call])) - {name}  # on a tape one may be made of another
        asked = {AGAIN: step.inputs, BETWEEN: (*step.inputs, *(step.no_grad_vars or ()))}
        found[number] = tuple(word for word, names in by.items() if not names.isdisjoint(asked[word]))
        behind[number] = history.behind(history.used[number])
        passed[number] = history.made_with(step.inputs, behind[number])
    return found


def _second_passes(history: _History) -> dict[int, tuple[str, ...]]:
    """Return which steps need `ANEW`, by number."""
    if sum(isinstance(step, Backward) for step in history.steps) < 2:
        return {}
    latest: dict[str, int] = {}  # by value, the number of the latest pass that went through it
    found: dict[int, tuple[str, ...]] = {}
    for number, step in enumerate(history.steps):
        if isinstance(step, Backward):
            through = history.behind(step.roots)
            ops = {history.makers[name] for name in through if name in history.makers}
            if any(latest.get(operand, -1) > op for op in ops for operand in history.used[op]):
                found[number] = (ANEW,)
            latest |= dict.fromkeys(through, number)
    return found
