import torch

x = torch.tensor([[1.0], [2.0], [3.0]]).expand(3, 4)
found = torch.median(x, 1).values.tolist()
assert found == [1.0, 2.0, 3.0], f"the medians of rows of ones, of twos and of threes are {found}, and [1, 2, 3] is right"
