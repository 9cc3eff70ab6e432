import torch

x = torch.ones(2, requires_grad=True)
try:
    torch.autograd.backward([x * 2, x * 3], [torch.ones(2), torch.ones(2, 2)])
except RuntimeError as error:
    assert "shape" in str(error), f"a wrong shape raises: {error}"
else:
    raise AssertionError("a wrong shape is accepted")
