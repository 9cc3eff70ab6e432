import torch

target = torch.zeros(2, 4, 5, dtype=torch.long)
dense = torch.rand(2, 3, 4, 5, requires_grad=True)
torch.nn.functional.nll_loss(dense, target).backward()
x = dense.detach().contiguous(memory_format=torch.channels_last).requires_grad_()
message = ""
try:
    torch.nn.functional.nll_loss(x, target).backward()
except RuntimeError as error:
    message = str(error)
assert not message, f"the same numbers in channels_last are refused: {message}"
assert torch.equal(x.grad, dense.grad)
