import torch

x = torch.tensor([0.0], requires_grad=True)
found = []
for order in (1, 2, 3):
    (g,) = torch.autograd.grad(torch.linalg.vector_norm(x, order), x, create_graph=True)
    (h,) = torch.autograd.grad(g.sum(), x)
    found.append((h + 0).item())
assert found == [0.0, 0.0, 0.0], f"the second derivatives of |x| at 0 are {found} as norms of the orders 1, 2 and 3; 0 is right"
