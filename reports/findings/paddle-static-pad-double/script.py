"""Case a2c6fa14ff9bdd24, for paddle-static."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
paddle.enable_static()
main, startup = paddle.static.Program(), paddle.static.Program()
fetch = {}
with paddle.static.program_guard(main, startup):
    x = paddle.static.data('x', [1], 'float32')
    x.stop_gradient = False
    s = paddle.static.data('s', [3], 'float32')
    s.stop_gradient = False
    try:
        y = paddle.nn.functional.pad(x, [n for p in zip([1], [1]) for n in p], value=1.5)
        fetch['y'] = y
    except Exception as error:
        print("0:", type(error).__name__, error)
    try:
        g, = paddle.static.gradients([y], [x], [s], None)
        fetch['g'] = g
    except Exception as error:
        print("1:", type(error).__name__, error)
    try:
        h, = paddle.static.gradients([g], [s], None, None)
        fetch['h'] = h
    except Exception as error:
        print("2:", type(error).__name__, error)
    executor = paddle.static.Executor(paddle.CPUPlace())
    executor.run(startup)
    feed = {'x': np.array([1.0], dtype='float32').reshape((1,)), 's': np.array([1.0, 2.0, 3.0], dtype='float32').reshape((3,))}
    present = {name: made for name, made in fetch.items() if made is not None}
    arrays = executor.run(main, feed=feed, fetch_list=list(present.values()))
for name in fetch:
    array = dict(zip(present, arrays)).get(name)
    print(name, "=", None if array is None else array, "stop_gradient =", getattr(fetch[name], "stop_gradient", None))
