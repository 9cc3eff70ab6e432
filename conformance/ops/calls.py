"""Calls that PyTorch and Paddle write alike, which most are: written once, so that they cannot come apart."""

from __future__ import annotations


def both(call: str) -> dict[str, str]:
    """Return a call of PyTorch, and Paddle's where it is the same but for the names of the package and of `torch.tensor`."""
    return {"torch": call, "paddle": call.replace("torch.tensor(", "paddle.to_tensor(").replace("torch.", "paddle.")}
