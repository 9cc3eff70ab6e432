import torch

x = torch.tensor([1e25, 2e25, 4e25])
layer = torch.nn.functional.layer_norm(x, (3,))
instance = torch.nn.functional.instance_norm(x.reshape(1, 1, 3))
found = [layer.tolist(), instance[0, 0].tolist()]
assert found[0][2] > 1 and found[1][2] > 1, f"layer_norm and instance_norm of {x.tolist()} are {found}; [-1.07, -0.27, 1.34] is right"
