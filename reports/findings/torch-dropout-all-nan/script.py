import torch

y = torch.nn.functional.dropout(torch.tensor([float("inf"), 1.0]), p=1.0, training=True)
assert y.tolist() == [0.0, 0.0], f"dropout with p=1 makes {y.tolist()} of [inf, 1], and zeros are right"
