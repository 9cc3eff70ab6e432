"""Error categories: what can go wrong in an autograd call, in our own words.

Frameworks name the same refusal by different exception types and messages; a category is what they have in common, so that
"which error, at which step" can be compared. The enumeration is short and closed: a refusal that fits none of them is a finding,
never a pass.
"""

from enum import StrEnum


class Category(StrEnum):
    """Why an autograd call (or an op) refused."""

    GRAPH_FREED = "graph_freed"
    UNREACHABLE_INPUT = "unreachable_input"
    SEED_SHAPE = "seed_shape"
    SEED_LENGTH = "seed_length"
    SEED_REQUIRED = "seed_required"
    DUPLICATE_TENSOR = "duplicate_tensor"
    ROOT_WITHOUT_GRAPH = "root_without_graph"
    NOT_DIFFERENTIABLE = "not_differentiable"
    BAD_ARGUMENT = "bad_argument"
    IN_PLACE_LEAF = "in_place_leaf"
    IN_PLACE_VERSION = "in_place_version"
    IN_PLACE_VIEW = "in_place_view"
    NOT_A_LEAF = "not_a_leaf"
    CALLBACK = "callback"
    CALLBACK_RESULT = "callback_result"
    NOT_IMPLEMENTED = "not_implemented"
    OP_SHAPE = "op_shape"
    DTYPE = "dtype"
    UNMAPPED = "unmapped"


class AutogradError(Exception):
    """A refusal of the reference engine, with its category."""

    def __init__(self, category: Category, message: str) -> None:
        super().__init__(message)
        self.category = category
