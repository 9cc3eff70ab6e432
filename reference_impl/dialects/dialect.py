"""The dialects: where PyTorch and Paddle differ by documented or plainly meant convention.

One engine predicts both frameworks by reading a `Dialect`. A dialect is a promise: what contradicts a framework's own
documentation, mathematics or itself does not belong here; there the reference keeps the promise and the framework deviates.
Sources: the frameworks' documentation of ``torch.autograd.backward``/``grad``, ``paddle.autograd.backward`` and ``paddle.grad``, and
observations of torch 2.13.0 and paddle 3.3.1 on the CPU.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from reference_impl.dialects.conventions import Conventions, locked
from reference_impl.dialects.spellings import OF_PADDLE, OF_TORCH

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Ranks: TypeAlias = "Callable[..., bool]"
"""Whether something holds of an op, by the numbers of axes of its operands."""


def _always(*_: int) -> bool:
    return True


def _folded(x: int, *_: int) -> bool:
    return x != 2


def _left_factor(x: int, y: int) -> bool:
    return x >= 3 or x < y


def _right_factor(_: int, y: int) -> bool:
    return y >= 3


def _of_channels(x: int, weight: int) -> bool:
    return x != weight


@dataclass(frozen=True, slots=True)
class Dialect:
    """The conventions of one framework. Every field is one documented difference; what a dialect does not say, it does as PyTorch.

    What a field decides, and what each of its values means, stands in `reference_impl.dialects.switches`. ``spelled`` has for an op the
    one that does it as this framework does, ``hidden`` the operands of an op whose gradients are made of results that it keeps to
    itself, and ``not_offered`` for a parameter of the calls the reason.
    """

    name: str
    containers: Literal["iterables", "lists"] = "iterables"
    implicit_seed: Literal["one_real_element", "ones"] = "one_real_element"
    duplicates: Literal["summed", "refused"] = "summed"
    unreached: Literal["absent", "zeros"] = "absent"
    freed_refuses: Literal["saved", "executed", "nothing"] = "saved"
    accumulation: Literal["added", "replaced", "nulled"] = "added"
    unfinished: Literal["kept", "dropped"] = "kept"
    grad_requires_grad: bool = False
    derivative_requires_grad: Literal["if_connected", "always"] = "if_connected"
    schedule: Literal["newest_first", "first_in_first_out"] = "newest_first"
    only_inputs: Literal["ignored", "required"] = "ignored"
    inputs_run_their_node: bool = True
    retain_constant: Literal["refused", "ignored"] = "refused"
    unoffered: Literal["when_recorded", "when_run"] = "when_run"
    hook_order: Literal["by_tensor", "registered"] = "by_tensor"
    retained_position: Literal["last", "registered"] = "last"
    retaining: Literal["asked", "every"] = "asked"
    retained: Literal["accumulated", "replaced"] = "accumulated"
    computed_flag: Literal["fixed", "free"] = "fixed"
    toggled_leaf: Literal["checked", "ignored"] = "checked"
    callbacks_record: Literal["as_the_pass", "as_the_caller"] = "as_the_pass"
    missing_cotangent: Literal["absent", "zeros"] = "absent"
    surplus_gradients: Literal["none_allowed", "refused"] = "none_allowed"
    left_out_gradients: Literal["refused", "of_constants"] = "refused"
    gradient_of_constant: Literal["dropped", "refused"] = "dropped"
    wider_gradient: Literal["summed", "refused"] = "summed"
    ties: Literal["first", "split"] = "first"
    leaky_at_zero: Literal["slope", "one"] = "slope"
    several_views: Literal["refused", "allowed"] = "refused"
    retained_follows: Literal["newest", "registered"] = "newest"
    promotion: Literal["inside", "cast_first", "cast_to_widest"] = "inside"
    numbered: frozenset[str] = frozenset()
    joined: frozenset[str] = frozenset()
    reshaped: Mapping[str, Mapping[str, Ranks]] = field(default_factory=dict)
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
    conventions=locked("torch", "2.13"),
    joined=frozenset(
        {
            *("conv1d", "conv2d", "conv2d_biased", "conv2d_depthwise", "conv3d"),
            *("conv_transpose1d", "conv_transpose2d", "conv_transpose3d"),
            *("layer_norm", "batch_norm_train", "batch_norm_eval", "instance_norm", "grid_sample_bilinear"),
        }
    ),
    numbered=frozenset({"cdist", "pdist"}),
    hidden={"group_norm": frozenset({"x", "weight"}), "group_norm_noaffine": frozenset({"x"})},
    reshaped={
        "cholesky_solve": {"y": _always},
        "cumulative_trapezoid_x": {"y": _always, "x": _always},
        "instance_norm": {"x": _always, "weight": _always},
        "kron": {"x": _always, "y": _always},
        "linear": {"x": _folded, "weight": _always},
        "matmul": {"x": _left_factor, "y": _right_factor},
        "prelu": {"weight": _of_channels},
        "scaled_dot_product_attention": {"query": _always, "key": _always, "value": _always},
        "scaled_dot_product_attention_causal": {"query": _always, "key": _always, "value": _always},
        "trapezoid_x": {"y": _always, "x": _always},
    },
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
    implicit_seed="ones",
    duplicates="refused",
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

_ASSIGNMENTS = ("setitem", "setitem_intarray", "setitem_mask")
_NOT_LOOKED_AT = (
    "matmul_transposed",
    *("conv1d", "conv2d_biased", "conv2d_depthwise", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d"),
    *("nn_unfold", "nn_fold", "grid_sample_bilinear", "affine_grid", "pairwise_distance", "triplet_margin_loss"),
    *("interpolate_nearest", "interpolate_linear", "interpolate_bilinear", "pad_reflect", "pad_replicate", "pad_circular"),
    *("interpolate_trilinear", "interpolate_bicubic", "interpolate_area"),
    *("scaled_dot_product_attention_causal", "normalize", "gaussian_nll_loss", "avg_pool3d", "avg_pool3d_ceil"),
    "adaptive_avg_pool3d",
    *("fftshift", "ifftshift", "slogdet", "sinc"),
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
        **{f"op:{name}": "assignment to a part by a method call is offered in eager mode only" for name in _ASSIGNMENTS},
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
        "step:toggle": "what programs of old make of a stop_gradient that is set later has not been written up yet",
        **{f"op:{name}": "the function takes variables of PIR programs only" for name in _PIR_ONLY},
        **dict.fromkeys(
            ("op:relu6", "op:hardtanh", "op:hardshrink", "op:fmax", "op:fmin"),
            "a missing second derivative is not refused: the program fails when it runs, a variable is not in its scope",
        ),
        **dict.fromkeys(
            ("op:stft", "op:istft", "op:eig_invariant", "op:ormqr"), "what programs of old make of it has not been written up yet"
        ),
    },
)
"""Static programs of Paddle before PIR, which can still be switched on."""

FORMULAS = replace(TORCH, conventions=Conventions())
"""What PyTorch promises, with every open choice left to the formulas of the ops: for asking rules, which know no framework."""

DIALECTS: Mapping[str, Dialect] = {dialect.name: dialect for dialect in (TORCH, PADDLE)}
