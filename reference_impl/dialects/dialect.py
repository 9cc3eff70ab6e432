"""The dialects: where PyTorch and Paddle differ by documented or plainly meant convention.

One engine predicts both frameworks by reading a `Dialect`. A dialect is a promise: what contradicts a framework's own
documentation, mathematics or itself does not belong here; there the reference keeps the promise and the framework deviates.
Sources: the frameworks' documentation of ``torch.autograd.backward``/``grad``, ``paddle.autograd.backward`` and ``paddle.grad``, and
observations of torch 2.13.0 and paddle 3.3.1 on the CPU.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from reference_impl.dialects.conventions import Conventions, locked
from reference_impl.dialects.spellings import OF_PADDLE, OF_TORCH

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Dialect:
    """The conventions of one framework. Every field is one documented difference.

    Attributes:
        name: what the dialect is called.
        containers: several tensors are handed over in any iterable (and answered in a tuple, or a dict for a dict), or in a list or
            tuple (and answered in a list).
        flags: whatever has a truth value is taken, or ``True`` and ``False`` alone.
        implicit_seed: a missing seed is ones for every root, or allowed for real roots of one element only.
        seed_kind: a complex seed of a real root, or a real one of a complex root, is refused, or cast like any other dtype.
        duplicates: the same tensor twice among the roots is summed (and twice among the inputs answered twice), or an error.
        gradless_root: a root that requires no gradient is an error, or is skipped.
        gradless_input: an input that requires no gradient is an error, or counts as unreachable.
        unreached: the gradient of an input that the roots do not depend on is absent, if that is allowed, or zeros in any case.
        freed_refuses: a freed graph refuses at nodes that saved data, when their rules run; or at every node that ran, on entering it.
        grad_requires_grad: whether ``.grad`` itself requires a gradient after a plain `backward`.
        derivative_requires_grad: what ``create_graph`` returns requires a gradient if it depends on a tensor that does, or always.
        schedule: which ready node runs first; it shows where a failing call left gradients behind.
        only_inputs: whether ``only_inputs=False`` is accepted (and changes nothing) or refused.
        inputs_run_their_node: ``backward(inputs=)`` runs (and frees) the node that made a non-leaf input.
        retain_constant: `retain_grad` of a tensor that requires no gradient is an error, or does nothing.
        unoffered: a derivative of an order that is not offered is refused by the call that would record it, or by the one that runs it.
        hook_order: the hooks of a node's outputs are called tensor by tensor, as each got its first one, or all as registered.
        retained_position: a retained gradient is taken after all hooks of the tensor, or between them as registered.
        retained: a second pass adds to a retained gradient, or replaces it.
        computed_flag: the flag of a computed tensor is fixed, or may be changed; that is read when a consumer is built.
        toggled_leaf: a leaf whose flag was taken off after the graph was built accumulates nothing, or still does.
        callbacks_record: ops inside a hook are recorded under ``create_graph`` only, or wherever the caller of the pass records.
        missing_cotangent: the hook of an output that nothing arrived at is called with ``None``, or with zeros (retained, too).
        surplus_gradients: a custom backward may return ``None`` beyond one gradient for each operand, or any surplus is refused.
        left_out_gradients: too few of them are refused, or are taken where the operands that are left out need none.
        gradient_of_constant: a gradient for an operand that needs none is dropped, or refused.
        wider_gradient: a gradient of a shape that its operand broadcasts to is summed, or refused (as is any other wrong shape).
        ties: a maximum along an axis that is reached several times gives its gradient to the first, or splits it evenly.
        leaky_at_zero: the derivative of a leaky ReLU at 0 is that of its negative side, or 1.
        spelled: ops that this framework makes of other ops, and the op that does it that way; what is freed, refused and linked
            follows the parts.
        joined: ops of which the gradients of all operands, under ``create_graph``, are results of one node.
        hidden: ops whose node has results that the op does not return, and the operands whose gradients, under ``create_graph``, are
            made of these.
        reshaped: ops that use views of their operands, made when the op is recorded: a flag that is set later does not count.
        copies: view ops of the other framework whose results are copies here, so that a write to one does not reach the other.
        several_views: a recorded write to one of several views that one op made is an error, or allowed.
        retained_follows: a gradient that was retained before an in-place update is that of the newest content, or of what the
            tensor was when it was first registered.
        promotion: an operand of a narrower dtype (real beside complex, float32 beside float64) is promoted by the op, or by a cast
            before it, which is a node of its own; a wider operand without axes decides over those with some, or does not.
        conventions: what is done where nothing is documented; what was measured of the framework, and no promise.
        not_offered: parameters of the calls that this framework does not have, with the reason.
        static: scripts are written as a program first and run afterwards, see `reference_impl.static.program`.
    """

    name: str
    containers: Literal["iterables", "lists"]
    flags: Literal["truthiness", "strict"]
    implicit_seed: Literal["one_real_element", "ones"]
    seed_kind: Literal["of_the_root", "cast"]
    duplicates: Literal["summed", "refused"]
    gradless_root: Literal["refused", "skipped"]
    gradless_input: Literal["refused", "unreachable"]
    unreached: Literal["absent", "zeros"]
    freed_refuses: Literal["saved", "executed"]
    grad_requires_grad: bool
    derivative_requires_grad: Literal["if_connected", "always"]
    schedule: Literal["newest_first", "first_in_first_out"]
    only_inputs: Literal["ignored", "required"]
    inputs_run_their_node: bool
    retain_constant: Literal["refused", "ignored"]
    unoffered: Literal["when_recorded", "when_run"]
    hook_order: Literal["by_tensor", "registered"]
    retained_position: Literal["last", "registered"]
    retained: Literal["accumulated", "replaced"]
    computed_flag: Literal["fixed", "free"]
    toggled_leaf: Literal["checked", "ignored"]
    callbacks_record: Literal["as_the_pass", "as_the_caller"]
    missing_cotangent: Literal["absent", "zeros"]
    surplus_gradients: Literal["none_allowed", "refused"]
    left_out_gradients: Literal["refused", "of_constants"]
    gradient_of_constant: Literal["dropped", "refused"]
    wider_gradient: Literal["summed", "refused"]
    ties: Literal["first", "split"]
    leaky_at_zero: Literal["slope", "one"]
    several_views: Literal["refused", "allowed"]
    retained_follows: Literal["newest", "registered"]
    promotion: Literal["inside", "cast_first", "cast_to_widest"]
    joined: frozenset[str] = frozenset()
    reshaped: frozenset[str] = frozenset()
    hidden: Mapping[str, frozenset[str]] = field(default_factory=dict)
    copies: frozenset[str] = frozenset()
    conventions: Conventions = field(default_factory=Conventions)
    spelled: Mapping[str, str] = field(default_factory=dict)
    not_offered: Mapping[str, str] = field(default_factory=dict)
    static: bool = False

    def __hash__(self) -> int:
        """Return the hash of the name: tables have none."""
        return hash(self.name)


TORCH = Dialect(
    name="torch",
    containers="iterables",
    flags="truthiness",
    implicit_seed="one_real_element",
    seed_kind="of_the_root",
    duplicates="summed",
    gradless_root="refused",
    gradless_input="refused",
    unreached="absent",
    freed_refuses="saved",
    grad_requires_grad=False,
    derivative_requires_grad="if_connected",
    schedule="newest_first",
    only_inputs="ignored",
    inputs_run_their_node=True,
    retain_constant="refused",
    unoffered="when_run",
    hook_order="by_tensor",
    retained_position="last",
    retained="accumulated",
    computed_flag="fixed",
    toggled_leaf="checked",
    callbacks_record="as_the_pass",
    missing_cotangent="absent",
    surplus_gradients="none_allowed",
    left_out_gradients="refused",
    gradient_of_constant="dropped",
    wider_gradient="summed",
    ties="first",
    leaky_at_zero="slope",
    several_views="refused",
    retained_follows="newest",
    promotion="inside",
    conventions=locked("torch", "2.13"),
    joined=frozenset(
        {
            *("conv1d", "conv2d", "conv2d_biased", "conv2d_depthwise", "conv3d"),
            *("conv_transpose1d", "conv_transpose2d", "conv_transpose3d"),
            *("layer_norm", "batch_norm_train", "batch_norm_eval", "instance_norm", "grid_sample_bilinear"),
        }
    ),
    hidden={"group_norm": frozenset({"x", "weight"}), "group_norm_noaffine": frozenset({"x"})},
    reshaped=frozenset({"kron"}),
    copies=frozenset({"getitem_reversed"}),
    spelled=OF_TORCH,
    not_offered={
        "no_grad_vars": "torch.autograd.grad has no such parameter; detach the tensor instead",
        "dump_backward_graph_path": "torch.autograd.backward has no such parameter",
        "step:append_backward": "PyTorch has no programs; backward writes to .grad at once",
    },
)

PADDLE = Dialect(
    name="paddle",
    containers="lists",
    flags="strict",
    implicit_seed="ones",
    seed_kind="cast",
    duplicates="refused",
    gradless_root="skipped",
    gradless_input="unreachable",
    unreached="absent",
    freed_refuses="executed",
    grad_requires_grad=True,
    derivative_requires_grad="always",
    schedule="first_in_first_out",
    only_inputs="required",
    inputs_run_their_node=False,
    retain_constant="ignored",
    unoffered="when_recorded",
    hook_order="registered",
    retained_position="registered",
    retained="replaced",
    computed_flag="free",
    toggled_leaf="ignored",
    callbacks_record="as_the_caller",
    missing_cotangent="zeros",
    surplus_gradients="refused",
    left_out_gradients="of_constants",
    gradient_of_constant="refused",
    wider_gradient="refused",
    ties="split",
    leaky_at_zero="one",
    several_views="allowed",
    retained_follows="registered",
    promotion="cast_first",
    copies=frozenset({"broadcast_to", "chunk", "expand", "expand_as", "narrow_view", "split"}),
    conventions=locked("paddle", "3.3"),
    spelled=OF_PADDLE,
    not_offered={
        "backward.create_graph": "paddle.autograd.backward has no such parameter; use paddle.grad",
        "backward.inputs": "paddle.autograd.backward has no such parameter; use paddle.grad",
        "materialize_grads": "paddle.grad has no such parameter",
        "is_grads_batched": "paddle.grad has no such parameter",
        "grad_variables": "paddle.autograd.backward has no such parameter",
        "gradient_edge": "Paddle has no GradientEdge",
        "step:append_backward": "paddle.static.append_backward belongs to static programs",
    },
)

_NOT_LOOKED_AT = (
    *("conv1d", "conv2d_biased", "conv2d_depthwise", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d"),
    *("nn_unfold", "nn_fold", "grid_sample_bilinear", "affine_grid", "pairwise_distance", "triplet_margin_loss"),
    *("interpolate_nearest", "interpolate_linear", "interpolate_bilinear", "pad_reflect", "pad_replicate", "pad_circular"),
    *("interpolate_trilinear", "interpolate_bicubic", "interpolate_area"),
    *("scaled_dot_product_attention_causal", "normalize", "gaussian_nll_loss", "avg_pool3d", "adaptive_avg_pool3d"),
    *("fftshift", "ifftshift", "slogdet", "sinc", "stft"),
)
_NO_TENSOR = "a variable of a program has no elements while it is built, and no .grad"
PADDLE_STATIC = replace(
    PADDLE,
    name="paddle_static",
    static=True,
    conventions=locked("paddle-static", "3.3"),
    spelled={name: spelling for name, spelling in PADDLE.spelled.items() if name != "where"},
    not_offered={
        "op:fill": "a variable of a program has no fill_",
        "op:setitem": "assignment to a part by a method call is offered in eager mode only",
        **{f"op:{name}": f"Tensor.{name} is offered in eager mode only" for name in ("view", "view_as", "as_strided")},
        "op:tensor_unfold": "Tensor.unfold is offered in eager mode only",
        "op:narrow_view": "a variable of a program has no strides, which paddle.narrow reads",
        **{f"op:{name}": "what programs make of it has not been written up yet" for name in _NOT_LOOKED_AT},
        "step:backward": f"{_NO_TENSOR}; use paddle.static.append_backward",
        "step:clear_grad": _NO_TENSOR,
        "step:retain_grad": _NO_TENSOR,
        "step:hook": "a program has no hooks on variables",
        "step:remove_hook": "a program has no hooks on variables",
        "step:edge": "Paddle has no GradientEdge",
        "step:in_place": "in-place ops of programs are not part of the catalogue",
        "step:custom": "custom functions of programs are not part of the language (paddle.static.py_func)",
        "step:toggle": "stop_gradient is read when gradients are appended, not where it is set",
        "materialize_grads": "paddle.static.gradients has no such parameter",
        "is_grads_batched": "paddle.static.gradients has no such parameter",
        "gradient_edge": "Paddle has no GradientEdge",
    },
)
"""Static programs of Paddle: nothing is freed, every result can be differentiated again, an unused input has an absent gradient.

Sources: ``paddle.static.gradients``, ``paddle.static.append_backward``.
"""

_PIR_ONLY = (
    *("abs", "amax", "bmm", "cos", "exp", "gelu", "glu", "log", "logsumexp", "maximum", "minimum", "roll", "rsqrt", "sigmoid", "sin"),
    *("softplus", "sqrt", "sum", "tanh", "tril", "triu"),
    *("amin", "ceil", "floor", "round"),
)
PADDLE_STATIC_LEGACY = replace(
    PADDLE_STATIC,
    name="paddle_static_legacy",
    not_offered={
        **PADDLE_STATIC.not_offered,
        "no_grad": "paddle.no_grad is about dynamic graphs",
        **{f"op:{name}": "the function takes variables of PIR programs only" for name in _PIR_ONLY},
        **dict.fromkeys(
            ("op:relu6", "op:hardtanh", "op:hardshrink", "op:fmax", "op:fmin"),
            "a missing second derivative is not refused: the program fails when it runs, a variable is not in its scope",
        ),
    },
)
"""Static programs of Paddle before PIR, which can still be switched on."""

FORMULAS = replace(TORCH, conventions=Conventions())
"""What PyTorch promises, with every open choice left to the formulas of the ops: for asking rules, which know no framework."""

DIALECTS: Mapping[str, Dialect] = {dialect.name: dialect for dialect in (TORCH, PADDLE)}
