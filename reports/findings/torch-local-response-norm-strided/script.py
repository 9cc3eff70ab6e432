import torch

x = torch.ones(1, 2, 3, 4, 5).transpose(2, 3)

copied = torch.nn.functional.local_response_norm(x.contiguous(), 2)
try:
    y = torch.nn.functional.local_response_norm(x, 2)
except RuntimeError as error:
    raise AssertionError(f"raises RuntimeError: {str(error).splitlines()[0]}") from None
assert torch.equal(y, copied)
