"""Case 9780639a3fc0fae1, for paddle-static."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
paddle.enable_static()
main, startup = paddle.static.Program(), paddle.static.Program()
fetch = {}
with paddle.static.program_guard(main, startup):
    x = paddle.create_parameter([2], 'float32', 'x', default_initializer=paddle.nn.initializer.Assign(np.array([1.0, 2.0], dtype='float32').reshape((2,))))
    w = paddle.create_parameter([2], 'float32', 'w', default_initializer=paddle.nn.initializer.Assign(np.array([5.0, 6.0], dtype='float32').reshape((2,))))
    try:
        y = paddle.multiply(x, w)
        fetch['y'] = y
    except Exception as error:
        print("0:", type(error).__name__, error)
    try:
        pairs = paddle.static.append_backward(y, parameter_list=[w.name])
        print("parameters:", [parameter.name for parameter, _ in pairs])
        g, = [gradient for _, gradient in pairs]
        fetch['g'] = g
    except Exception as error:
        print("1:", type(error).__name__, error)
    executor = paddle.static.Executor(paddle.CPUPlace())
    executor.run(startup)
    feed = {}
    present = {name: made for name, made in fetch.items() if made is not None}
    arrays = executor.run(main, feed=feed, fetch_list=list(present.values()))
for name in fetch:
    array = dict(zip(present, arrays)).get(name)
    print(name, "=", None if array is None else array, "stop_gradient =", getattr(fetch[name], "stop_gradient", None))
