import paddle

paddle.enable_static()
x = paddle.full([2], 1.0)
x.stop_gradient = False
loss = paddle.nn.functional.kl_div(x, x, log_target=True)
(g,) = paddle.static.gradients([loss], [x])
try:
    paddle.static.Executor(paddle.CPUPlace()).run(fetch_list=[g])
except RuntimeError as error:
    assert "Tensor holds no memory" not in str(error), "the program was built, and fails when it runs: a tensor holds no memory"
    raise
