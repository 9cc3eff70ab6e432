import torch

x = torch.tensor([[0.0, 0.0], [1.0, 2.0]], dtype=torch.float64)
v = torch.ones_like(x)


def lengths(x):
    return torch.linalg.vector_norm(x, 3.0, dim=1)


_, found = torch.autograd.functional.jvp(lengths, x, v)
_, forward = torch.func.jvp(lengths, (x,), (v,))
assert forward[0].item() == 0.0  # in forward mode, 0 for the zeros
assert found[0].item() == 0.0, f"the directional derivatives are {found.tolist()}, and {forward.tolist()} in forward mode"
