"""Static programs, and the transformation that appends their backward part."""
