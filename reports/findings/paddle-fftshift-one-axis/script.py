import paddle

x = paddle.to_tensor([0.0, 1.0, 2.0])
message = ""
try:
    found = paddle.fft.fftshift(x).tolist()
except SystemError as error:
    message = str(error)
assert not message, f"fftshift of a vector is refused: {message}"
assert found == [2.0, 0.0, 1.0]
