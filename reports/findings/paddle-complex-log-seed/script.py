"""The derivative of the gradient of log in its seed is not conjugated."""

import numpy as np
import paddle

z = paddle.to_tensor(np.array([1 + 1j, 2 - 1j]), stop_gradient=False)
seed = paddle.to_tensor(np.array([1 + 0j, 1 + 0j]), stop_gradient=False)
(g,) = paddle.grad([paddle.log(z)], [z], [seed], create_graph=True)
# g is seed conj(1/z), so what comes back to the seed from 1 is 1/z
(of_seed,) = paddle.grad([g], [seed], [paddle.ones_like(z)])
print(of_seed.numpy(), 1 / z.numpy())
assert np.allclose(of_seed.numpy(), np.conj(1 / z.numpy()))
