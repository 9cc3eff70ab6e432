"""Case c79afed2bf720976, for paddle-static."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
paddle.enable_static()
main, startup = paddle.static.Program(), paddle.static.Program()
fetch = {}
with paddle.static.program_guard(main, startup):
    x = paddle.static.data('x', [2, 2], 'float32')
    x.stop_gradient = False
    try:
        a, b, = paddle.chunk(x, len([1, 1]), -1)
        fetch['a'] = a
        fetch['b'] = b
    except Exception as error:
        print("0:", type(error).__name__, error)
    try:
        g, = paddle.static.gradients([b], [x], None, None)
        fetch['g'] = g
    except Exception as error:
        print("1:", type(error).__name__, error)
    try:
        h, k, = paddle.static.gradients([g], [x, b], None, None)
        fetch['h'] = h
        fetch['k'] = k
    except Exception as error:
        print("2:", type(error).__name__, error)
    executor = paddle.static.Executor(paddle.CPUPlace())
    executor.run(startup)
    feed = {'x': np.array([1.0, 2.0, 3.0, 4.0], dtype='float32').reshape((2, 2))}
    present = {name: made for name, made in fetch.items() if made is not None}
    arrays = executor.run(main, feed=feed, fetch_list=list(present.values()))
for name in fetch:
    array = dict(zip(present, arrays)).get(name)
    print(name, "=", None if array is None else array, "stop_gradient =", getattr(fetch[name], "stop_gradient", None))
