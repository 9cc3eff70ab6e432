"""Short words for the small cases of this folder: leaves, constants, and the few ops that most of them need."""

from conformance.case.case import Case, Input
from conformance.case.steps import Op, Step

TOTAL = {"axis": None, "keepdims": False}


def leaf(name: str, *numbers: float) -> Input:
    """Make a differentiable vector (float32)."""
    return Input(name, (len(numbers),), numbers)


def constant(name: str, *numbers: float) -> Input:
    """Make a vector that requires no gradient (float32)."""
    return Input(name, (len(numbers),), numbers, differentiable=False)


def number(name: str, value: float, *, differentiable: bool = True) -> Input:
    """Make a tensor without axes (float32)."""
    return Input(name, (), (value,), differentiable=differentiable)


def plane(name: str, *numbers: complex, differentiable: bool = True) -> Input:
    """Make a vector of complex numbers (complex64)."""
    return Input(name, (len(numbers),), tuple((z.real, z.imag) for z in numbers), "complex64", differentiable)


def mul(x: str, y: str, product: str) -> Op:
    """Write ``product = x * y``."""
    return Op("mul", (x, y), (product,))


def add(x: str, y: str, result: str) -> Op:
    """Write ``result = x + y``."""
    return Op("add", (x, y), (result,))


def scale(x: str, factor: float, scaled: str) -> Op:
    """Write ``scaled = x * factor``, with a Python number."""
    return Op("mul_scalar", (x,), (scaled,), {"other": factor})


def total(x: str, result: str) -> Op:
    """Write ``result``, the sum of all elements of ``x``."""
    return Op("sum", (x,), (result,), TOTAL)


def exact(inputs: tuple[Input, ...], *steps: Step) -> Case:
    """Make a case whose numbers are exact, so that it is compared bitwise."""
    return Case(inputs, steps, "exact")
