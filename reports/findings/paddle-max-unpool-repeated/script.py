import paddle

x = paddle.to_tensor([[[1.0, 5.0, 2.0]]], stop_gradient=False)
largest, index = paddle.nn.functional.max_pool1d(x, 2, stride=1, return_mask=True)
y = paddle.nn.functional.max_unpool1d(largest, index, 2, stride=1)
(g,) = paddle.grad(y.sum(), x)
assert g[0, 0, 1].item() == 1, f"max_unpool1d returns {y.tolist()}, and the gradient of its sum is {g.tolist()}; 1 is right"
