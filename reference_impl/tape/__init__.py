"""The tape: tensors, what made them, and what they carry."""
