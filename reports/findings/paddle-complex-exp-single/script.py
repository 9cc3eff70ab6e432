import cmath

import paddle

z = paddle.to_tensor([1 + 1j], dtype="complex128")
error = abs(paddle.exp(z).item() - cmath.exp(1 + 1j))
assert error < 1e-14, f"exp of complex128 is off by {error}"
