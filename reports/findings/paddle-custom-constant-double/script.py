import paddle


class Two(paddle.autograd.PyLayer):
    @staticmethod
    def forward(ctx, x):
        return x.clone(), x + x

    @staticmethod
    def backward(ctx, of_first, of_second):
        return of_first + 2 * of_second.detach()


x = paddle.to_tensor(3.0, stop_gradient=False)
_, y = Two.apply(paddle.nn.functional.relu(x))
(g,) = paddle.grad(y, x, create_graph=True)
assert g.item() == 2.0
try:
    g.backward()
except ValueError as error:
    raise AssertionError(f"raises {type(error).__name__}: {str(error).strip().splitlines()[-2].strip()}") from None
