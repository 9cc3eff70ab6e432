"""A gradient of the wrong shape, with the elements in the wrong place, comes without a word."""

import paddle

x = paddle.to_tensor([[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]], stop_gradient=False)
for own in (False, True):
    a, b = paddle.split(x, [2, 1])
    seed = b if own else b * 1
    (g,) = paddle.grad([b], [x], [seed], create_graph=True)
    (h,) = paddle.grad([g], [x])
    print(h.tolist())  # [[0, 0], [0, 0], [1, 1]] is right; [[1, 1], [0, 0]] comes where the seed is the root itself
assert h.shape == [2, 2]
