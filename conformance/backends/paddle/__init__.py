"""Paddle in eager mode (dygraph): what is known of it before it is imported."""

from conformance.backends.registry import Registration
from reference_impl import PADDLE

REGISTRATION = Registration(
    opens="conformance.backends.paddle.engine:open_backend",
    title="Paddle",
    requires="paddle",
    script="conformance.backends.paddle.script:script",
    dialect=PADDLE,
    votes=True,
    forks=True,
)
