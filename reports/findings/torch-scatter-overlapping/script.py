import torch

x = torch.arange(4.0).unfold(0, 3, 1)  # [[0, 1, 2], [1, 2, 3]]
found = torch.diagonal_scatter(x, torch.tensor([10.0, 20.0])).tolist()
right = torch.diagonal_scatter(x.contiguous(), torch.tensor([10.0, 20.0])).tolist()
assert found == right, f"diagonal_scatter returns {found}, and {right} is right"
