import paddle

x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
h = x * 2
z = (h * h).sum()
v = paddle.ones([2])
for call in ("first", "second"):
    g, _ = paddle.grad([h, z], [h, x], grad_outputs=[v, None], retain_graph=True)
    assert g.tolist() == [5.0, 9.0], f"the {call} call gives {g.tolist()}, and [5, 9] is right; grad_outputs is now {v.tolist()}"
assert v.tolist() == [1.0, 1.0], f"grad_outputs is {v.tolist()} after the call"
