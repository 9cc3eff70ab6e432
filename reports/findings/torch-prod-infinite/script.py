"""The gradient of prod is NaN at an infinite factor, though it is the product of the other factors."""

import math

import torch

x = torch.tensor([2.0, 3.0, math.inf], requires_grad=True)
x.prod().backward()
assert x.grad[2] == 6.0, x.grad  # comes: nan, which is inf / inf

zero = torch.tensor([2.0, 0.0, math.inf], requires_grad=True)
zero.prod().backward()
assert zero.grad[2] == 0.0, zero.grad  # right: with a zero among the factors torch multiplies the others
