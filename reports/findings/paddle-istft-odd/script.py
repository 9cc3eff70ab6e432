import paddle

x = paddle.rand([9], dtype="float64")
spectra = paddle.signal.stft(x, 3, hop_length=1, center=False)
try:
    back = paddle.signal.istft(spectra, 3, hop_length=1, center=False)
except ValueError as error:
    message = str(error).splitlines()[0][:70]
else:
    message = "" if paddle.allclose(back, x) else f"{back.tolist()} in the place of {x.tolist()}"
assert not message, f"istft of what stft made with a window of 3 places: {message}"
