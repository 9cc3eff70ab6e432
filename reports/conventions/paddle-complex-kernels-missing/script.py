import paddle

z = paddle.to_tensor([1 + 2j, 3 - 1j])
keep = paddle.to_tensor([True, False])
ops = {
    "cumsum": lambda: paddle.cumsum(z, 0),
    "where": lambda: paddle.where(keep, z, 2 * z),
    "masked_fill": lambda: paddle.masked_fill(z, keep, 0.0),
    "pow": lambda: paddle.pow(z, z),
}
lacking = []
for name, op in ops.items():
    try:
        op()
    except RuntimeError as error:
        if "is not registered. Selected wrong DataType `complex" not in str(error):
            raise
        lacking.append(name)
assert not lacking, f"there is no kernel for complex numbers of {', '.join(lacking)}"
