"""From a framework's exceptions to our categories.

Two engines refuse the same thing in different words, so refusals are compared by category. A rule is an exception type, a part of its
message, and the category; the first one that fits counts. What no rule knows is `Category.UNMAPPED`, which is never a pass. Such as::

    (RuntimeError, "Trying to backward through the graph a second time", Category.GRAPH_FREED)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference_impl import Category

if TYPE_CHECKING:
    from collections.abc import Sequence

Rule = tuple[type[Exception], str, Category]


def categorise(error: Exception, rules: Sequence[Rule]) -> Category:
    """Return the category of the first rule that knows the exception."""
    message = str(error)
    for kind, part, category in rules:
        if isinstance(error, kind) and part in message:
            return category
    return Category.UNMAPPED
