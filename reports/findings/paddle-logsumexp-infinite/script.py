import paddle

inf = float("inf")
masked = paddle.logsumexp(paddle.to_tensor([-inf, -inf])).item()
assert masked == -inf, f"logsumexp of [-inf, -inf] is {masked}"
large = paddle.logsumexp(paddle.to_tensor([1.0, inf])).item()
assert large == inf, f"logsumexp of [1, inf] is {large}"
