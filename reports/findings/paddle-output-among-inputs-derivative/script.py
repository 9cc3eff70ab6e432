"""Case 9065b3ff13fc8ebb, for paddle."""
import numpy as np
import paddle

nan, inf = float('nan'), float('inf')
x0 = paddle.to_tensor(np.array([1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], dtype='float64').reshape((3, 4)), stop_gradient=False)
x1 = paddle.to_tensor(np.array([1.0, 2.0, 3.0], dtype='float64').reshape((3,)), stop_gradient=False)
s3 = paddle.to_tensor(np.array([1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], dtype='float64').reshape((3, 4)), stop_gradient=True)
s4 = paddle.to_tensor(np.array([1.0, 2.0, 3.0], dtype='float64').reshape((3,)), stop_gradient=False)
law_4_2 = paddle.to_tensor(np.array([-1.0, 0.5, 1.0], dtype='float64').reshape((3,)), stop_gradient=True)
law_5_2 = paddle.to_tensor(np.array([1.5, 1.0, 1.0, -1.0, 1.5, -1.5, -2.0, 0.5, 2.0, 1.0, -1.5, -1.0], dtype='float64').reshape((3, 4)), stop_gradient=True)

try:
    v2 = paddle.pow(x0, 2.0)
    print("0: v2 =", v2, "stop_gradient =", getattr(v2, "stop_gradient", None))
except Exception as error:
    print("0:", type(error).__name__, error)
try:
    g5, = paddle.grad([v2, x1], [x1], [s3, s4], retain_graph=True, create_graph=True)
    print("1: g5 =", g5, "stop_gradient =", getattr(g5, "stop_gradient", None))
except Exception as error:
    print("1:", type(error).__name__, error)
try:
    law_6_2_0, law_6_2_1, law_6_2_2, = paddle.grad([g5, v2], [x0, s4, x1], [law_4_2, law_5_2], retain_graph=True, allow_unused=True)
    print("2: law_6_2_0 =", law_6_2_0, "stop_gradient =", getattr(law_6_2_0, "stop_gradient", None))
    print("2: law_6_2_1 =", law_6_2_1, "stop_gradient =", getattr(law_6_2_1, "stop_gradient", None))
    print("2: law_6_2_2 =", law_6_2_2, "stop_gradient =", getattr(law_6_2_2, "stop_gradient", None))
except Exception as error:
    print("2:", type(error).__name__, error)
try:
    law_6_3_0, law_6_3_1, law_6_3_2, = paddle.grad([g5], [x0, s4, x1], [law_4_2], retain_graph=True, allow_unused=True)
    print("3: law_6_3_0 =", law_6_3_0, "stop_gradient =", getattr(law_6_3_0, "stop_gradient", None))
    print("3: law_6_3_1 =", law_6_3_1, "stop_gradient =", getattr(law_6_3_1, "stop_gradient", None))
    print("3: law_6_3_2 =", law_6_3_2, "stop_gradient =", getattr(law_6_3_2, "stop_gradient", None))
except Exception as error:
    print("3:", type(error).__name__, error)
try:
    law_6_4_0, law_6_4_1, law_6_4_2, = paddle.grad([v2], [x0, s4, x1], [law_5_2], retain_graph=True, allow_unused=True)
    print("4: law_6_4_0 =", law_6_4_0, "stop_gradient =", getattr(law_6_4_0, "stop_gradient", None))
    print("4: law_6_4_1 =", law_6_4_1, "stop_gradient =", getattr(law_6_4_1, "stop_gradient", None))
    print("4: law_6_4_2 =", law_6_4_2, "stop_gradient =", getattr(law_6_4_2, "stop_gradient", None))
except Exception as error:
    print("4:", type(error).__name__, error)
print("after: x0 =", x0)
print("after: x1 =", x1)
print("after: s3 =", s3)
print("after: s4 =", s4)
print("after: law_4_2 =", law_4_2)
print("after: law_5_2 =", law_5_2)
