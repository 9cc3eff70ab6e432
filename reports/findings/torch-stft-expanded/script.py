import torch

window = torch.ones(2)
x = torch.ones(1).expand(4).requires_grad_()
y = torch.stft(x, 2, 2, window=window, center=False, return_complex=True)
y[0, 0].real.backward()  # the sum of the first two elements
assert x.grad.tolist() == [1.0, 1.0, 0.0, 0.0], f"the gradient of x[0] + x[1] is {x.grad.tolist()}, and [1, 1, 0, 0] is right"
