import torch


def given_to_hook(op):
    a = torch.tensor([[2.0]], requires_grad=True)
    given = []
    y = op(a)
    a.register_hook(given.append)
    a.requires_grad_(False)
    y.sum().backward()
    return given


b = torch.tensor([4.0])
found, right = given_to_hook(lambda a: torch.linalg.solve(a, b)), given_to_hook(lambda a: torch.linalg.inv(a) @ b)
assert found == right, f"the hook is given {found} below solve(a, b), and {right} below inv(a) @ b"
