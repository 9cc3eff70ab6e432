"""What differs between two outcomes, and by more than rounding can do."""
