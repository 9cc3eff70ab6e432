"""Engines that follow a convention of the other framework than the one they claim to speak: one switch of the dialect turned over.

These are the mistakes of a port. Switches that no random script can tell apart are not here; the curated cases of the clauses check
each switch on its own.
"""

from __future__ import annotations

from dataclasses import replace

from conformance.mutants.mutant import Kind, Mutant
from reference_impl import PADDLE, PADDLE_STATIC, TORCH
from reference_impl.dialects.conventions import COMPUTED, FORMULA, REFUSED, OpenChoice
from reference_impl.dialects.conventions import Kind as Open

SWITCHES = (
    *("implicit_seed", "duplicates", "freed_refuses", "grad_requires_grad"),
    *(
        "derivative_requires_grad",
        "schedule",
        "only_inputs",
        "inputs_run_their_node",
        "retain_constant",
        "hook_order",
        "retained_position",
        "retained",
    ),
    *("computed_flag", "toggled_leaf", "callbacks_record", "missing_cotangent", "surplus_gradients", "left_out_gradients"),
    *("gradient_of_constant", "wider_gradient", "ties", "several_views", "retained_follows"),
)

EQUIVALENT = {
    (
        "paddle",
        "inputs_run_their_node",
    ): "the switch is read where backward has inputs=, a parameter that Paddle's backward does not have",
}

OF_A_CALL = {
    "gradless_root": OpenChoice(Open.ALLOWED, "root", "that requires no gradient"),
    "seed_kind": OpenChoice(Open.ALLOWED, "seed", "of another kind"),
    "gradless_input": OpenChoice(Open.ALLOWED, "input", "that requires no gradient"),
}
FLIPPED = {COMPUTED: REFUSED, REFUSED: COMPUTED}

OF_ONE_CHOICE = {
    "torch_mul_not_freed": (TORCH, {OpenChoice(Open.FREED, "mul", operand): COMPUTED for operand in "xy"}),
    "torch_mul_not_kept": (TORCH, {OpenChoice(Open.KEPT, "mul", "x y"): COMPUTED}),
    "torch_sin_first_order": (TORCH, {OpenChoice(Open.OFFERED, "sin", "order 2"): REFUSED}),
    "paddle_mul_unlinked": (PADDLE, {OpenChoice(Open.CONNECTED, "mul", "x alone"): FORMULA}),
    **{
        f"{dialect.name}_{name}": (dialect, {choice: FLIPPED[dialect.conventions.options[choice]]})
        for name, choice in OF_A_CALL.items()
        for dialect in (TORCH, PADDLE)
    },
}
"""Engines that decide one open choice, of one op or of the calls, otherwise than the release that they are."""

MUTANTS = (
    *(
        Mutant(
            name,
            Kind.ENGINE,
            "conventions",
            "; ".join(f"{choice} is {option}" for choice, option in options.items()),
            dialect=dialect,
            behaves=replace(dialect, conventions=dialect.conventions.but(options)),
        )
        for name, (dialect, options) in OF_ONE_CHOICE.items()
    ),
    *(
        Mutant(
            f"{dialect.name}_{switch}",
            Kind.ENGINE,
            "conventions",
            f"{dialect.name}'s {switch} is {getattr(other, switch)} instead of {getattr(dialect, switch)}",
            dialect=dialect,
            behaves=replace(dialect, **{switch: getattr(other, switch)}),
            equivalent=EQUIVALENT.get((dialect.name, switch), ""),
        )
        for dialect, other in ((TORCH, PADDLE), (PADDLE, TORCH))
        for switch in SWITCHES
    ),
    Mutant(
        "paddle_links",
        Kind.ENGINE,
        "conventions",
        "a gradient counts as depending on what its formula uses",
        dialect=PADDLE,
        behaves=replace(PADDLE, conventions=PADDLE.conventions.without(Open.CONNECTED)),
    ),
    Mutant(
        "paddle_highest_order",
        Kind.ENGINE,
        "conventions",
        "every order of derivative of every op is offered",
        dialect=PADDLE,
        behaves=replace(PADDLE, conventions=PADDLE.conventions.without(Open.OFFERED)),
    ),
    Mutant(
        "torch_saves",
        Kind.ENGINE,
        "in-place",
        "ops keep what the other framework's ops keep",
        dialect=TORCH,
        behaves=replace(TORCH, conventions=TORCH.conventions.without(Open.KEPT).but(PADDLE.conventions.of(Open.KEPT))),
    ),
    Mutant(
        "paddle_copies",
        Kind.ENGINE,
        "views",
        "what copies in Paddle makes a view",
        dialect=PADDLE,
        behaves=replace(PADDLE, copies=frozenset()),
    ),
    Mutant(
        "static_links",
        Kind.STATIC,
        "conventions",
        "a gradient counts as depending on what its formula uses",
        dialect=PADDLE_STATIC,
        behaves=replace(PADDLE_STATIC, conventions=PADDLE_STATIC.conventions.without(Open.CONNECTED)),
    ),
    Mutant(
        "static_highest_order",
        Kind.STATIC,
        "conventions",
        "every order of derivative of every op is offered",
        dialect=PADDLE_STATIC,
        behaves=replace(PADDLE_STATIC, conventions=PADDLE_STATIC.conventions.without(Open.OFFERED)),
    ),
)
