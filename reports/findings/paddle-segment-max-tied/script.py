import paddle

x = paddle.ones([3])
x.stop_gradient = False
y = paddle.geometric.segment_max(x, paddle.to_tensor([0, 0, 0]))
(found,) = paddle.grad(y, x)
assert found.sum() <= 1, f"the gradient of the maximum of {x.tolist()} is {found.tolist()}, which is no subgradient"
