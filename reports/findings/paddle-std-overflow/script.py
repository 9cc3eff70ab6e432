import paddle

x = paddle.to_tensor([1e20, 2e20, 4e20], stop_gradient=False)
s = paddle.std(x, unbiased=False)
(g,) = paddle.grad(s, x)
assert s.item() < 1e21, f"std([1e20, 2e20, 4e20]) is {s.item()}, with gradient {g.tolist()}; 1.25e20 is right"
