"""The in-place forms of ops: what each framework calls them. The first operand is the tensor that is changed.

Where both frameworks have the form under one name, it is written once.
"""

from __future__ import annotations

from conformance.ops.key import SLICES

_SAME = {
    "add": "x.add_(y)",
    **{name: f"x.{name}_()" for name in ("neg", "square", "exp", "log", "sqrt", "rsqrt", "sin", "cos", "tanh", "sigmoid", "abs")},
    "pow_scalar": "x.pow_(exponent)",
    "tril": "x.tril_(diagonal)",
    "triu": "x.triu_(diagonal)",
    "fill": "x.fill_(value)",
    "setitem": f"x.__setitem__({SLICES}, value)",
}

_OWN = {
    "sub": ("x.sub_(y)", "x.subtract_(y)"),
    "mul": ("x.mul_(y)", "x.multiply_(y)"),
    "div": ("x.div_(y)", "x.divide_(y)"),
    "mul_scalar": ("x.mul_(other)", "x.scale_(other)"),
    "add_scalar": ("x.add_(other)", "x.scale_(1.0, other)"),
    "relu": ("x.relu_()", "paddle.nn.functional.relu_(x)"),
    "clamp": ("x.clamp_(low, high)", "x.clip_(low, high)"),
    "masked_fill": ("x.masked_fill_(torch.tensor(mask), value)", "x.masked_fill_(paddle.to_tensor(mask), value)"),
}

IN_PLACE: dict[str, dict[str, str]] = {
    **{name: {"torch": call, "paddle": call} for name, call in _SAME.items()},
    **{name: {"torch": torch, "paddle": paddle} for name, (torch, paddle) in _OWN.items()},
}

NOT_OFFERED = {
    "silu_, gelu_, softplus_": "neither framework has the form in place",
    "pow_ with a tensor": "Paddle takes a number only",
    "relu6_, leaky_relu_, ...": "come with their ops",
    "reshape_, squeeze_, unsqueeze_, transpose_, t_": "they change the shape of a value that the case knows by one shape",
    "cumsum_, index_add_, scatter_, put_along_axis_, lerp_": "come with their ops",
    "in-place updates beside matmul, outer, ...": "what these keep for their gradients is not tabulated yet",
    "writes to what may be a copy": "whether expand, split and some reshapes share memory is not promised alike",
    "backward(inputs=) beside in-place updates": "which version of a rewritten input it means is not modelled yet",
    "second derivatives after a write to shared memory": "what a rewritten view keeps differs per framework and is not modelled yet",
}
"""In-place forms that random scripts do not use, with the reason."""
