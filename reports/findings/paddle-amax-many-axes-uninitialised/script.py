import paddle

x = paddle.arange(32, dtype="float32").reshape([2, 2, 2, 2, 2])
x.stop_gradient = False
found = []
for number in (1.0, -7.0):
    [paddle.full([2, 2, 2, 2, 2], number) for _ in range(50)]  # what is freed here is read there
    (gradient,) = paddle.grad(paddle.amax(x, axis=[3, 4]).sum(), [x])
    found.append(gradient)
right = (x == paddle.amax(x, axis=[3, 4], keepdim=True)).astype("float32")
assert all(bool((gradient == right).all()) for gradient in found), (
    f"the gradient of the largest of every four is {found[0].flatten()[:4].tolist()}, then {found[1].flatten()[:4].tolist()}, and [0, 0, 0, 1] is right"
)
