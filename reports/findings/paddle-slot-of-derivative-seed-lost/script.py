import paddle

x, w, y = paddle.to_tensor([[1.0, 2.0]]), paddle.to_tensor([[1.0], [2.0]]), paddle.to_tensor([[1.0, 2.0]])
x.stop_gradient = w.stop_gradient = y.stop_gradient = False


def third(copied):
    z = paddle.mm(paddle.mm(x, w), y)
    (g,) = paddle.grad(z, y, create_graph=True)
    (h,) = paddle.grad(g, x, grad_outputs=g + 0 if copied else g, create_graph=True)
    return paddle.grad(h, w)[0].tolist()


right = third(copied=True)
assert right == [[16.0], [22.0]]
assert third(copied=False) == right, f"with the gradient itself as its seed it is {third(copied=False)}, and {right} is right"
