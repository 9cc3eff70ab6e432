import paddle

x = paddle.to_tensor([[1.0, 2.0]], stop_gradient=False)
loss = paddle.nn.functional.cross_entropy(x, paddle.to_tensor([0]))
for call in ("first", "second"):
    x.clear_grad()
    loss.backward(retain_graph=True)
    gradient = [round(v, 4) for v in x.grad.tolist()[0]]
    assert gradient == [-0.7311, 0.7311], f"the {call} backward gives {gradient}, and [-0.7311, 0.7311] is right"
