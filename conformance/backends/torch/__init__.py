"""PyTorch, as a first-class framework: what is known of it before it is imported."""

from conformance.backends.registry import Registration
from reference_impl import TORCH

REGISTRATION = Registration(
    opens="conformance.backends.torch.engine:open_backend",
    title="PyTorch",
    requires="torch",
    script="conformance.backends.torch.script:script",
    dialect=TORCH,
    votes=True,
    against_itself=True,
    forks=True,
)
