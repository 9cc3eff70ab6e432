"""The dialects: where PyTorch and Paddle differ by documented or plainly meant convention.

One engine predicts both frameworks by reading a `Dialect`. A dialect is a promise: what contradicts a framework's own
documentation, mathematics or itself does not belong here; there the reference keeps the promise and the framework deviates.
Sources: the frameworks' documentation of ``torch.autograd.backward``/``grad``, ``paddle.autograd.backward`` and ``paddle.grad``, and
observations of torch 2.13.0 and paddle 3.3.1 on the CPU.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from reference_impl.paddle_table import HIGHEST_ORDER, LINKS
from reference_impl.saved_table import PADDLE_SAVES, TORCH_SAVES

if TYPE_CHECKING:
    from collections.abc import Mapping

UNBOUNDED = 99


@dataclass(frozen=True, slots=True)
class Dialect:
    """The conventions of one framework. Every field is one documented difference.

    Attributes:
        name: what the dialect is called.
        implicit_seed: a missing seed is ones for every root, or allowed for one-element roots only.
        duplicates: the same tensor twice among the roots is summed (and twice among the inputs answered twice), or an error.
        gradless_root: a root that requires no gradient is an error, or is skipped.
        gradless_input: an input that requires no gradient is an error, or counts as unreachable.
        freed_refuses: a freed graph refuses at nodes that saved data, or at every node that ran.
        grad_requires_grad: whether ``.grad`` itself requires a gradient after a plain `backward`.
        derivative_requires_grad: what ``create_graph`` returns requires a gradient if it depends on a tensor that does, or always.
        schedule: which ready node runs first; it shows where a failing call left gradients behind.
        only_inputs: whether ``only_inputs=False`` is accepted (and changes nothing) or refused.
        inputs_run_their_node: ``backward(inputs=)`` runs (and frees) the node that made a non-leaf input.
        retain_constant: `retain_grad` of a tensor that requires no gradient is an error, or does nothing.
        retained_position: a retained gradient is taken after all hooks of the tensor, or between them as registered.
        retained: a second pass adds to a retained gradient, or replaces it.
        computed_flag: the flag of a computed tensor is fixed, or may be changed; that is read when a consumer is built.
        toggled_leaf: a leaf whose flag was taken off after the graph was built accumulates nothing, or still does.
        callbacks_record: ops inside a hook are recorded under ``create_graph``, or always (and the cotangent requires a gradient).
        missing_cotangent: the hook of an output that nothing arrived at is called with ``None``, or with zeros.
        ties: a maximum along an axis that is reached several times gives its gradient to the first, or splits it evenly.
        highest_order: for an op, the highest derivative that is offered; asking for a graph of more is refused.
        links: for an op, the operands that its gradients count as depending on, where that is not simply what its formula uses;
            each with when that holds (`paddle_table`). None at all: on the cotangent alone. It decides
            between absent and zero for derivatives of second order.
        spelled: ops that this framework makes of other ops, and the op that does it that way; what is freed, refused and linked
            follows the parts.
        copies: view ops of the other framework whose results are copies here, so that a write to one does not reach the other.
        several_views: a recorded write to one of several views that one op made is an error, or allowed.
        retained_follows: a gradient that was retained before an in-place update is that of the newest content, or of what the
            tensor was when it was registered.
        saves: for an op, what it keeps for its gradients, so that a later write to that is refused in the pass (`saved_table`).
        not_offered: parameters of the calls that this framework does not have, with the reason.
    """

    name: str
    implicit_seed: Literal["one_element", "ones"]
    duplicates: Literal["summed", "refused"]
    gradless_root: Literal["refused", "skipped"]
    gradless_input: Literal["refused", "unreachable"]
    freed_refuses: Literal["saved", "executed"]
    grad_requires_grad: bool
    derivative_requires_grad: Literal["if_connected", "always"]
    schedule: Literal["newest_first", "first_in_first_out"]
    only_inputs: Literal["ignored", "required"]
    inputs_run_their_node: bool
    retain_constant: Literal["refused", "ignored"]
    retained_position: Literal["last", "registered"]
    retained: Literal["accumulated", "replaced"]
    computed_flag: Literal["fixed", "free"]
    toggled_leaf: Literal["checked", "ignored"]
    callbacks_record: Literal["as_the_pass", "always"]
    missing_cotangent: Literal["absent", "zeros"]
    ties: Literal["first", "split"]
    several_views: Literal["refused", "allowed"]
    retained_follows: Literal["newest", "registered"]
    saves: Mapping[str, Mapping[str, tuple[str, ...]]]
    copies: frozenset[str] = frozenset()
    highest_order: Mapping[str, int] = field(default_factory=dict)
    links: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    spelled: Mapping[str, str] = field(default_factory=dict)
    not_offered: Mapping[str, str] = field(default_factory=dict)


TORCH = Dialect(
    name="torch",
    implicit_seed="one_element",
    duplicates="summed",
    gradless_root="refused",
    gradless_input="refused",
    freed_refuses="saved",
    grad_requires_grad=False,
    derivative_requires_grad="if_connected",
    schedule="newest_first",
    only_inputs="ignored",
    inputs_run_their_node=True,
    retain_constant="refused",
    retained_position="last",
    retained="accumulated",
    computed_flag="fixed",
    toggled_leaf="checked",
    callbacks_record="as_the_pass",
    missing_cotangent="absent",
    ties="first",
    several_views="refused",
    retained_follows="newest",
    saves=TORCH_SAVES,
    not_offered={
        "no_grad_vars": "torch.autograd.grad has no such parameter; detach the tensor instead",
        "dump_backward_graph_path": "torch.autograd.backward has no such parameter",
    },
)

PADDLE = Dialect(
    name="paddle",
    implicit_seed="ones",
    duplicates="refused",
    gradless_root="skipped",
    gradless_input="unreachable",
    freed_refuses="executed",
    grad_requires_grad=True,
    derivative_requires_grad="always",
    schedule="first_in_first_out",
    only_inputs="required",
    inputs_run_their_node=False,
    retain_constant="ignored",
    retained_position="registered",
    retained="replaced",
    computed_flag="free",
    toggled_leaf="ignored",
    callbacks_record="always",
    missing_cotangent="zeros",
    ties="split",
    several_views="allowed",
    retained_follows="registered",
    saves=PADDLE_SAVES,
    copies=frozenset({"chunk", "expand", "split"}),
    highest_order=HIGHEST_ORDER,
    links=LINKS,
    spelled={
        "div": "div_by_quotient",
        "glu": "glu_of_parts",
        "linear": "linear_of_parts",
        "mse_loss": "mse_loss_of_parts",
        "rdiv_scalar": "rdiv_scalar_by_div",
        "where": "where_of_parts",
    },
    not_offered={
        "backward.create_graph": "paddle.autograd.backward has no such parameter; use paddle.grad",
        "backward.inputs": "paddle.autograd.backward has no such parameter; use paddle.grad",
        "materialize_grads": "paddle.grad has no such parameter",
        "is_grads_batched": "paddle.grad has no such parameter",
        "grad_variables": "paddle.autograd.backward has no such parameter",
        "gradient_edge": "Paddle has no GradientEdge",
    },
)

DIALECTS: Mapping[str, Dialect] = {dialect.name: dialect for dialect in (TORCH, PADDLE)}
