import paddle

x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
(d1,) = paddle.grad(paddle.nn.functional.sigmoid(x), x, create_graph=True)
(d2,) = paddle.grad(d1, x, create_graph=True)
z = d2.sum()
for call in ("first", "second"):
    x.clear_grad()
    z.backward(retain_graph=True)
    third = [round(v, 4) for v in x.grad.tolist()]
    assert third == [-0.0353, 0.0389], f"the {call} backward gives {third}, and [-0.0353, 0.0389] is right"
