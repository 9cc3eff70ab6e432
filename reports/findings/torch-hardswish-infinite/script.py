import torch

y = torch.nn.functional.hardswish(torch.tensor([-torch.inf, -1e30]))
assert y.tolist() == [0.0, 0.0], f"hardswish of -inf and -1e30 is {y.tolist()}, and [0, 0] is documented"
