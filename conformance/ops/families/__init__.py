"""The catalogue's rows, one family a module, under the name of the family of its rules in `reference_impl.primitives`."""
