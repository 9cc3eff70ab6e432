import torch

bce = torch.nn.functional.binary_cross_entropy_with_logits
x = torch.tensor([20.0], requires_grad=True)
(of_one,) = torch.autograd.grad(bce(x, torch.tensor([1.0])), x)
(of_zero,) = torch.autograd.grad(bce(-x, torch.tensor([0.0])), x)  # the same function of x
assert of_one.item() == of_zero.item(), f"the gradient is {of_one.item()}; {of_zero.item()} is right"
