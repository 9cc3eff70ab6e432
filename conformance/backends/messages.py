"""From a framework's exceptions to our categories.

A rule is an exception type and a part of its message. What no rule knows is `Category.UNMAPPED`, which is never a pass.
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
