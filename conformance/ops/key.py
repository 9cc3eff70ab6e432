"""How the frameworks write the key of a slice: the attribute ``key`` lists start, stop and step of the leading axes."""

SLICES = "tuple(slice(*k) for k in key)"
