import paddle

paddle.enable_static()
x = paddle.static.data("x", [2], "float32")
x.stop_gradient = False
z = paddle.static.data("z", [1], "float32")
z.stop_gradient = False
a, b = paddle.split(x, 2)
y = paddle.exp(z)

block = paddle.static.default_main_program().global_block()
before = [op.name() for op in block.ops]
(g,) = paddle.static.gradients(y, x, b)
assert g is None  # y does not depend on x

lost = {*before} - {op.name() for op in block.ops}
assert not lost, f"gradients() has removed {', '.join(lost)}, which made a and b, from the program"
