import torch

x = torch.zeros(0, requires_grad=True)
y, mask = torch.native_dropout(x, 0.5, False)
assert x.is_leaf, "after native_dropout of a tensor without elements that tensor is no leaf any more"
y.sum().backward()
