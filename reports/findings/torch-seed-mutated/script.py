import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
v = torch.ones(2, 1)

x.reshape(2, 1).backward(v)
x.reshape(2, 1).backward(torch.ones(2, 1))
assert x.grad.tolist() == [2.0, 2.0]
assert v.tolist() == [[1.0], [1.0]], f"the second backward makes the gradient passed to the first {v.tolist()}"
