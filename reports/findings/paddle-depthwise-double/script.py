import paddle

F = paddle.nn.functional
seed = paddle.ones([1, 2, 2, 2])
for name, made in {
    "depthwise conv2d": lambda x, w: F.conv2d(x, w, groups=2),
    "conv2d_transpose": F.conv2d_transpose,
}.items():
    x = paddle.ones([1, 2, 2, 2])
    w = paddle.ones([2, 1, 1, 1] if "depthwise" in name else [2, 2, 1, 1])
    x.stop_gradient = w.stop_gradient = False
    (g,) = paddle.grad(made(x, w), x, seed, create_graph=True)
    try:
        (found,) = paddle.grad(g.sum(), w)
    except RuntimeError as error:
        raise AssertionError(f"the gradient of {name} cannot be differentiated: {str(error).strip().splitlines()[0]}") from None
    assert found.flatten().tolist() == [4.0] * found.size
