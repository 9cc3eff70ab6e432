import paddle
import paddle.nn.functional as F

picture = paddle.ones([1, 1, 1, 1])
w = paddle.to_tensor([[[[2.0]]]], stop_gradient=False)
b = paddle.to_tensor([3.0], stop_gradient=False)

loss = (F.conv2d(picture, w, b) ** 2).sum()
gw, gb = paddle.grad(loss, [w, b], create_graph=True)
assert [gw.item(), gb.item()] == [10.0, 10.0]
(h,) = paddle.grad((gw**2).sum() + (gb**2).sum(), w)
assert h.item() == 80.0, f"the derivative of the penalty is {h.item()}, and 80 is right"
