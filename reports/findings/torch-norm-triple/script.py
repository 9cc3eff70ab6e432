import torch

x = torch.tensor([0.5, -1.0, 2.0], dtype=torch.float64, requires_grad=True)


def third_derivative(norm):
    total = norm(x)[0]
    for _ in range(3):
        (grad,) = torch.autograd.grad(total, x, create_graph=True)
        total = grad[0]
    return total.item()


right = third_derivative(lambda x: (x - x.mean()) / torch.sqrt(((x - x.mean()) ** 2).mean() + 1e-5))
found = third_derivative(lambda x: torch.nn.functional.layer_norm(x, (3,)))
assert abs(found - right) < 1e-6, f"the third derivative of layer_norm is {found:.6f}, and {right:.6f} is right"
