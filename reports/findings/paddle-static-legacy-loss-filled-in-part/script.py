import os

os.environ["FLAGS_enable_pir_api"] = "0"
import paddle

paddle.enable_static()
w = paddle.create_parameter([2], "float32", default_initializer=paddle.nn.initializer.Assign([1.0, 2.0]))
((_, g),) = paddle.static.append_backward(w * w)

executor = paddle.static.Executor()
executor.run(paddle.static.default_startup_program())
(value,) = executor.run(fetch_list=[g])
assert value.tolist() == [2.0, 4.0], f"the gradient of w * w at [1, 2] is {value.tolist()}, and [2, 4] is right"
