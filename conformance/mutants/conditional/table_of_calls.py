"""The conditional faults of calls, and of what is attached to tensors or changes them: which, where, what."""

from __future__ import annotations

from itertools import chain

from conformance.mutants.conditional.fault import rows

FIRST = "the first gradient is doubled"
LAST = "the last gradient is doubled"
TURNED = "the last gradient has the wrong sign"
ZERO = "the last gradient is zero"
ABSENT = "the last gradient is absent"
SEEDS = "the seeds are doubled"
LAST_SEED = "the last seed is doubled"
AROUND = "the seeds are turned around"
ONES = "the seeds are ones"
CHANGED = "the user's seeds are changed"
KEPT = "the graph is kept"
FREED = "the graph is freed"
TWICE = "it is made twice"
REPLACED = "it replaces what is there"
LOST = "the last gradient is not accumulated"
REFUSED = "it is refused"
IGNORED = "it is ignored"
UNRECORDED = "it is not recorded"

UNDRAWN = {
    "a flag that is a number": "flags are drawn as True and False, and only a curated case has numbers",
}
"""Conditions that a measurement may never meet, and why."""

FAULTS = tuple(
    chain(
        # Orders and graphs.
        rows("grad", "create_graph", LAST),
        rows("grad", "create_graph", "the first gradient has no history"),
        rows("grad", "create_graph and several asked for", "the last gradient has no history"),
        rows("grad", "several asked for", "the derivative has a graph"),
        rows("grad", "a differentiable seed", "the derivative has no graph"),
        rows("backward", "a second derivative", SEEDS),
        rows("grad", "a second derivative", FIRST),
        rows("grad", "a third derivative", ZERO),
        rows("grad backward", "retain_graph", FREED),
        rows("grad backward", "retain_graph unset", KEPT),
        rows("grad", "retain_graph=False", KEPT),
        rows("grad backward", "retain_graph unset and a product above a root", KEPT),
        rows("grad backward", "retain_graph unset and an exponential above a root", KEPT),
        rows("grad", "retain_graph unset and a second derivative", KEPT),
        rows("grad", "a flag that is a number", LAST),
        rows("grad backward", "the second pass over a graph", SEEDS),
        rows("grad backward", "the third pass over a graph", SEEDS),
        rows("grad backward", "inside no_grad", SEEDS),
        # Accumulation.
        rows("backward", "a gradient that is there", REPLACED),
        rows("backward", "a gradient that is there, of a transposed leaf", TWICE),
        rows("backward", "a gradient that is there, in float64", LOST),
        rows("backward", "a gradient that is there, of a number", REPLACED),
        rows("backward", "a complex gradient that is there", TWICE),
        rows("backward", "a gradient with history that is there", REPLACED),
        rows("backward", "a gradient of zeros that is there", LOST),
        rows("backward", "several asked for", LOST, "backward.inputs"),
        rows("backward", "inputs given", "inputs are ignored", "backward.inputs"),
        rows("backward", "several inputs given", "the last of the inputs is ignored", "backward.inputs"),
        rows("backward", "a retained gradient before it", TWICE),
        rows("backward", "create_graph", TWICE, "backward.create_graph"),
        # Roots.
        rows("grad backward", "two roots", LAST_SEED),
        rows("grad", "three roots", LAST_SEED),
        rows("grad", "two roots", CHANGED),
        rows("grad backward", "one root above another", LAST_SEED),
        rows("grad", "one root twice", LAST_SEED),
        rows("backward", "a root that is an input", SEEDS),
        rows("backward", "a root that is an input", CHANGED),
        rows("grad", "a root of several results", SEEDS),
        rows("grad", "a root of more than 256 elements", SEEDS),
        rows("grad", "a root without elements", REFUSED),
        rows("grad", "a complex root", AROUND),
        rows("grad", "a root in float64", "the first gradient has another precision"),
        rows("grad backward", "a root beside a result that was written", SEEDS),
        rows("backward", "a root that was used further | a root that is a number", SEEDS),
        # Seeds.
        rows("grad backward", "no seeds", SEEDS),
        rows("grad", "a seed left to the engine", SEEDS),
        rows("grad backward", "a transposed seed", AROUND),
        rows("grad", "a strided seed", ONES),
        rows("backward", "an expanded seed", SEEDS),
        rows("grad", "a reversed seed", AROUND),
        rows("backward", "a seed in float64", AROUND),
        rows("backward", "a complex seed", SEEDS),
        rows("grad", "a seed of more than 8 elements", CHANGED),
        rows("backward", "a seed with a last block that is not full", AROUND),
        rows("grad", "a seed of three axes", AROUND),
        rows("grad backward", "a complex seed", "the seeds are conjugated"),
        rows("grad", "a differentiable seed", "the seeds lose their history"),
        rows("grad", "a computed seed", ONES),
        rows("grad", "a seed that is a derivative", SEEDS),
        rows("grad", "one seed for two roots", LAST_SEED),
        rows("grad backward", "a seed of zeros", ONES),
        rows("grad backward", "a seed of another shape", "seeds are broadcast"),
        rows("grad", "too few seeds", "seeds that are missing are ones"),
        rows("grad backward", "a seed with NaN", "NaN in the seeds is zero"),
        rows("grad backward", "an infinite seed", "infinite seeds are the largest numbers"),
        rows("grad", "an infinite seed", "NaN in the gradients is zero"),
        rows("grad backward", "a seed with NaN and a second derivative", "NaN in the seeds is zero"),
        rows("grad backward", "an infinite seed and a second derivative", "infinite seeds are the largest numbers"),
        rows("grad", "a second derivative", "NaN in the gradients is zero"),
        rows("grad backward", "a seed with NaN and an op that rounds above a root", "NaN in the seeds is zero"),
        rows("grad backward", "an infinite seed and an op that rounds above a root", "infinite seeds are the largest numbers"),
        rows("grad", "a seed that is its root", ONES),
        rows("grad", "a seed that is asked for", SEEDS),
        # What is asked for.
        rows("grad", "several asked for", "the first and the last gradient are swapped"),
        rows("grad", "three asked for", TURNED),
        rows("grad", "one asked for above another", ZERO),
        rows("grad", "the middle operand of an op alone asked for", TURNED),
        rows("grad", "a computed tensor asked for", LAST),
        rows("grad", "a derivative asked for", SEEDS),
        rows("grad", "a root asked for", SEEDS),
        rows("grad", "a number asked for", ABSENT),
        rows("grad", "an edge asked for", ABSENT, "gradient_edge"),
        rows("grad", "one asked for twice", ABSENT),
        rows("grad", "one asked for twice", FIRST),
        rows("grad", "an empty tensor asked for", ABSENT),
        rows("grad", "a transposed tensor asked for", LAST),
        rows("grad", "a complex tensor asked for", TURNED),
        rows("grad", "an unused tensor asked for", "an absent gradient is zero"),
        rows("grad", "an unused tensor asked for and a result of several asked for", "an absent gradient is zero"),
        rows("grad", "an unused tensor asked for", "unused is accepted"),
        rows("grad", "an unused tensor asked for", "nothing is refused"),
        rows("grad", "no_grad_vars | create_graph and no_grad_vars", "no_grad_vars are ignored", "no_grad_vars"),
        rows("grad", "several no_grad_vars", "the last of the no_grad_vars is ignored", "no_grad_vars"),
        rows("grad", "several asked for and a number asked for", "the first and the last gradient are swapped"),
        rows("grad", "materialize_grads", "materialize_grads is ignored", "materialize_grads"),
        rows(
            "grad",
            "a batch of seeds | a batch of seeds and several asked for | a batch of seeds and two roots",
            LAST,
            "is_grads_batched",
        ),
        rows("grad", "a batch of seeds", "the batch is turned around", "is_grads_batched"),
        rows("grad", "a tuple or one alone", FIRST),
        rows("grad", "a tuple or one alone and several asked for", "the first and the last gradient are swapped"),
        # The past.
        rows("backward", "the second call of a script", "nothing is refused"),
        rows("grad backward", "the second pass over a graph | a write before it | a hook before it", "nothing is refused"),
        rows("grad backward", "a gradient that is there", "a gradient is lost when it is refused"),
        rows("grad backward", "a gradient returned before it", "what an earlier call returned is doubled"),
        rows("grad", "the fourth call of a process | every seventh call of a process", SEEDS),
        rows("grad backward", "a refusal before it", SEEDS),
        rows("grad backward", "a hook before it", SEEDS),
        rows("grad", "a removed hook before it", SEEDS),
        rows("grad", "a write before it | a custom function before it | a detached tensor before it", SEEDS),
        rows("grad", "a changed flag before it | a region of no_grad before it | a cleared gradient before it", SEEDS),
        rows("backward", "a retained gradient before it | a derivative with a graph before it", SEEDS),
        # Two conditions at once.
        rows("grad", "a transposed seed and a second derivative", AROUND),
        rows("grad", "an expanded seed and a third derivative", SEEDS),
        rows("grad", "a strided seed and a complex root", AROUND),
        rows("grad", "the second pass over a graph and several asked for", LAST),
        rows("grad", "a batch of seeds and a second derivative", LAST, "is_grads_batched"),
        rows("grad", "create_graph and a transposed tensor asked for", TURNED),
        rows("backward", "a gradient that is there and two roots", REPLACED),
        rows("backward", "a gradient that is there and a reversed seed", TWICE),
        rows("backward", "a second derivative and a seed in float64", SEEDS),
        rows("backward", "a hook before it and a gradient that is there", REPLACED),
        rows("grad", "a refusal before it and a hook before it", SEEDS),
        # What is attached to tensors.
        rows("hook", "the second time in a script", IGNORED),
        rows("hook", "an input", "it sees twice the cotangent"),
        rows("hook", "a computed tensor", "its answer is ignored"),
        rows("hook", "a derivative | one of several results", IGNORED),
        rows("hook", "a pass before it", "it is called twice"),
        rows("hook", "every time", "it is called the first time alone"),
        rows("hook", "every time", "it sees no history"),
        rows("hook", "every time", "its answer has no history"),
        rows("hook", "a tensor that several ops take | an input | a view", "its answer is ignored"),
        rows("hook", "a tensor that several ops take", "it is called twice"),
        rows("hook", "a number", "it sees twice the cotangent"),
        rows("hook", "more than 8 elements", "its answer is ignored"),
        rows("remove_hook", "every time | a pass before it", IGNORED),
        rows("remove_hook", "several hooks before it", "the first hook is removed"),
        rows("retain_grad", "the second time in a script | a pass before it | a view", IGNORED),
        rows("toggle", "a computed tensor | a constant", IGNORED),
        rows("toggle", "a pass before it", "the flag is the other one"),
        rows("toggle", "a gradient that is there", "its gradient is cleared"),
        rows("detach", "every time", "it requires a gradient"),
        rows("detach", "a derivative | a view", "it keeps its history"),
        rows("clear_grad", "a gradient that is there", "zero and absent are swapped"),
        rows("clear_grad", "the second time in a script", IGNORED),
        # What changes tensors, and what a user writes.
        rows("in_place", "a view | float64 | a pass before it", UNRECORDED),
        rows("in_place", "a detached tensor", IGNORED),
        rows("in_place", "an op inside no_grad", "it happens twice"),
        rows("in_place", "a number", IGNORED),
        rows("custom", "two operands", "its last gradient is doubled"),
        rows("custom", "a constant beside it | more than 8 elements | one tensor as two operands", "all its gradients are doubled"),
        rows("custom", "a pass before it", UNRECORDED),
        rows("custom", "float64 | a number", "all its gradients are doubled"),
        rows("custom", "every time", "its unused results have ones for a cotangent"),
        rows("custom", "every time", "what it saved has no history"),
        rows("custom", "every time", "what its backward raises is lost"),
        rows("no_grad", "the second time in a script | a pass before it", "it records"),
    )
)
