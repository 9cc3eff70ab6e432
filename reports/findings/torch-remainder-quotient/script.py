import torch

x, y = torch.full((16,), 1e30), torch.full((16,), 1e-30)
alone, together = torch.remainder(x[:1], y[:1]).item(), torch.remainder(x, y)[0].item()
assert alone == together, f"the remainder of 1e30 and 1e-30 is {alone} alone, and {together} beside 15 others"
