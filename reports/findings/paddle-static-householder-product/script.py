import paddle

paddle.enable_static()
x = paddle.static.data("x", [2, 2], "float32")
x.stop_gradient = False
q = paddle.linalg.householder_product(x, paddle.to_tensor([0.5, 0.5]))
(g,) = paddle.static.gradients(q, x)

(found,) = paddle.static.Executor().run(feed={"x": [[5.0, 2.0], [3.0, 4.0]]}, fetch_list=[g])
assert found.tolist() == [[0, 0], [-2.25, 0]], (
    f"the gradient of householder_product is {found.tolist()}, and [[0, 0], [-2.25, 0]] is right"
)
