"""The dialects: where PyTorch and Paddle differ by documented or plainly meant convention."""
