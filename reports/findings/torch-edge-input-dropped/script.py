import torch

x = torch.tensor(3.0, requires_grad=True)
h = x * x
y = 2 * h

y.backward(inputs=[torch.autograd.graph.get_gradient_edge(h)])
assert h.grad is not None, "h.grad is None after backward(inputs=[the edge of h]), and 2 is right"
assert h.grad.item() == 2.0
