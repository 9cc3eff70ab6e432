import torch

x = torch.tensor(2.0, requires_grad=True)
h = x * x
y = 3 * h

y.backward(inputs=[h], retain_graph=True)
h.grad = None
y.backward()

assert x.grad.item() == 12.0
assert h.grad is None, f"h.grad is {h.grad.item()}: h is not a leaf, and it is not among the inputs of this call"
