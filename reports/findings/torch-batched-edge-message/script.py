import torch

x = torch.tensor([3.0, 5.0], requires_grad=True)
edge = torch.autograd.graph.get_gradient_edge(x * x)

(g,) = torch.autograd.grad([edge], [x], [torch.eye(2)], retain_graph=True, is_grads_batched=True)
assert g.tolist() == [[6.0, 0.0], [0.0, 10.0]]

try:
    torch.autograd.grad([edge], [x], [torch.ones(2, 3)], is_grads_batched=True)
except RuntimeError as error:
    assert "not supported" not in str(error), f"a wrong shape raises: {error}"
else:
    raise AssertionError("a wrong shape is accepted")
