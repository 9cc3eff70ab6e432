import paddle

x = paddle.to_tensor([1.0, 2.0, 3.0], stop_gradient=False)
z = paddle.to_tensor(1.0, stop_gradient=False)
h = x * x
h.register_hook(lambda g: g.sum())  # of shape [], where [3] is due
try:
    paddle.grad(h.sum(), [h, z])
except Exception as error:
    said = str(error).strip().splitlines()[0]
    assert "hook" in said or "shape" in said, f"nothing is said of the hook that returned another shape: {said}"
