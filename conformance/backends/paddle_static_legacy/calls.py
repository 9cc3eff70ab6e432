"""The calls of programs of old: Paddle's, but that two functions no longer take their variables, where the operators still do."""

from conformance.backends.calls import Spelling

SPELLING = Spelling("paddle", own={"mul": "x * y", "matmul": "x @ y"})
