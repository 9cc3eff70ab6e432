import paddle

x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
v = paddle.ones([2, 1])

(g,) = paddle.grad([x.reshape([2, 1])], [x], grad_outputs=[v])
g.scale_(3.0)
assert v.tolist() == [[1.0], [1.0]], f"scaling the result changes grad_outputs to {v.tolist()}"
