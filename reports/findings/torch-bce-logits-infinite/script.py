import torch

bce = torch.nn.functional.binary_cross_entropy_with_logits
masked = torch.tensor([float("-inf")])
loss = bce(masked, torch.tensor([0.0])).item()
assert loss == 0.0, f"the loss is {loss}; 0.0 is right, since sigmoid(-inf) is the target 0"
