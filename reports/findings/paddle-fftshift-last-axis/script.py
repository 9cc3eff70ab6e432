import paddle

x = paddle.to_tensor([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])
message = ""
try:
    found = paddle.fft.fftshift(x, axes=[0, -1]).tolist()
except ValueError as error:
    message = str(error)
assert not message, f"fftshift along the axes [0, -1] is refused: {message}"
assert found == [[5.0, 3.0, 4.0], [2.0, 0.0, 1.0]]
