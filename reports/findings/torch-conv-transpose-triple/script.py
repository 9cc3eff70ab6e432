import torch

x = torch.ones(1, 1, 2, requires_grad=True)
w = torch.ones(1, 1, 1, requires_grad=True)
y = torch.nn.functional.conv_transpose1d(x, w, stride=2, output_padding=1)  # x w, with zeros between
(found,) = torch.autograd.grad((y**2).sum(), w, create_graph=True)  # 2 |x|^2 w
try:
    for operand in (x, w):
        (found,) = torch.autograd.grad(found.sum(), operand, create_graph=True)
except RuntimeError as error:
    raise AssertionError(f"there is no third derivative: {error}") from None
assert found.item() == 8.0, f"the derivative of 4 (x1 + x2) w is {found.item()}"
