"""Small models: the blocks that public models are built of, put together, and what training does with them.

Random graphs meet any two ops sooner or later, and hardly ever the five that stand together in every model. Here a model is drawn block
by block, with the options that such blocks have, and differentiated as training does it: by parameters and data, over two batches whose
gradients accumulate, with weights that are shared or frozen, now and then with a penalty on the gradient itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from conformance.case.steps import Backward, ClearGrad, Grad, Op
from conformance.generate.profiles.blocks import Model, draw_images, draw_sequences
from conformance.generate.profiles.losses import draw_loss
from conformance.ops.sampler import Draft

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.case.case import Case
    from conformance.generate.odds import Odds
    from conformance.generate.profiles.odds import ModelOdds
    from conformance.ops.sampler import Source


def draw_model(source: Source, odds: Odds, model: ModelOdds, *, exact: bool, dtype: str) -> Case:
    """Draw a model, a loss of it, and how that is differentiated."""
    m = Model(source, odds, model, exact=exact, dtype=dtype)
    result = (draw_images if source.chance(model.images) else draw_sequences)(m)
    loss = draw_loss(m, result)
    forward = [step for step in m.steps if isinstance(step, Op)]
    _train(m, loss)
    if source.chance(model.second_batch):
        if source.chance(model.clear):
            to: Literal["none", "zero"] = "zero" if source.chance(model.zeros) else "none"
            m.steps += [ClearGrad(parameter.name, to) for parameter in m.parameters if parameter.tracked]
        _train(m, _of_other_data(m, forward, loss))
    return m.case()


def _of_other_data(m: Model, forward: Sequence[Op], loss: Draft) -> Draft:
    """Put another batch through the same model; the same one, where it would not stay of moderate size."""
    known = {draft.name: draft for draft in m.values}
    mark = m.mark()
    for data in m.data:
        known[data.name] = m.fresh(data.shape, domain=m.small, differentiable=data.tracked)
    for step in forward:
        if not m.on(step.op, *(known[name] for name in step.operands), **step.attrs):
            m.undo(mark)
            return loss
        known.update(zip(step.results, m.values[-len(step.results) :], strict=True))
    return known[loss.name]


def _train(m: Model, loss: Draft) -> None:
    """Differentiate a loss, perhaps with a penalty on a gradient of it."""
    source, odds = m.source, m.model
    trained = [draft for draft in (*m.parameters, *m.data) if draft.tracked]
    if source.chance(odds.penalty):
        gradient = _grad(m, loss, [source.choice(trained)], create_graph=True, retain=None)[0]
        if m.on("square", gradient) and m.on("sum", m.values[-1], axis=None, keepdims=False) and m.on("add", loss, m.values[-1]):
            loss = m.values[-1]
    retain = True if source.chance(odds.retain) else None
    asked = list({d.name: d for d in (source.choice(trained) for _ in range(source.integer(*odds.asked)))}.values())
    by_backward = source.chance(odds.by_backward)
    seeds = _seeds(m, loss)
    for _ in range(2 if source.chance(odds.again) else 1):
        if by_backward:
            m.steps.append(Backward((loss.name,), seeds, retain))
        else:
            _grad(m, loss, asked, create_graph=False, retain=retain, seeds=seeds)


def _seeds(m: Model, loss: Draft) -> tuple[str, ...] | None:
    return (m.fresh(loss.shape, origin="seed", differentiable=False).name,) if loss.shape else None


def _grad(
    m: Model, loss: Draft, asked: Sequence[Draft], *, create_graph: bool, retain: bool | None, seeds: tuple[str, ...] | None = None
) -> list[Draft]:
    names = tuple(m.name("g") for _ in asked)
    seeds = seeds or _seeds(m, loss)
    m.steps.append(Grad((loss.name,), tuple(d.name for d in asked), names, seeds, retain, create_graph, allow_unused=True))
    above = loss.above if create_graph else frozenset()
    made = [Draft(n, d.shape, d.dtype, None, create_graph, above, "gradient") for n, d in zip(names, asked, strict=True)]
    m.values.extend(made)
    return made
