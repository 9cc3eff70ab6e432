import torch

score = torch.tensor([100.0], requires_grad=True)
loss = torch.nn.functional.soft_margin_loss(score, torch.tensor([-1.0]))
(gradient,) = torch.autograd.grad(loss, score)
got = loss.item(), gradient.item()
assert got == (100.0, 1.0), f"the loss is {got[0]} and its gradient {got[1]}; 100.0 and 1.0 are right"
