import paddle

paddle.enable_static()
x = paddle.static.data("x", [3, 4], "complex64")
window = paddle.static.data("window", [4], "float32")
try:
    y = paddle.signal.istft(x, n_fft=4, hop_length=2, window=window)
except TypeError as error:
    raise AssertionError(f"istft with a window cannot be built into a program: TypeError: {error}") from None
