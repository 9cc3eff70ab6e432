import torch

x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
message = ""
try:
    found = torch.kron(x.t(), x)
except RuntimeError as error:
    message = str(error)
assert not message, f"kron of a transposed matrix is refused: {message}"
assert torch.equal(found, torch.kron(x.t().contiguous(), x))
