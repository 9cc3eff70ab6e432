import torch


def third_derivative(function):
    x = torch.tensor([0.5, 1.0, -0.25], dtype=torch.float64, requires_grad=True)
    total = function(x)
    for _ in range(3):
        (grad,) = torch.autograd.grad(total, x, create_graph=True)
        total = grad[0]
    return total.item()


right = third_derivative(lambda x: torch.logsumexp(x, 0))
found = third_derivative(lambda x: torch.logcumsumexp(x, 0)[-1])
assert abs(found - right) < 1e-9, f"the third derivative of logcumsumexp is {found}, and {right:.6f} is right"
