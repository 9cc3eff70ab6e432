"""Paddle's static programs of today (PIR): what is known of them before Paddle is imported."""

from conformance.backends.registry import Registration
from reference_impl import PADDLE_STATIC

REGISTRATION = Registration(
    opens="conformance.backends.paddle_static.engine:open_backend",
    title="Paddle, static programs",
    requires="paddle",
    script="conformance.backends.paddle_static.script:script",
    dialect=PADDLE_STATIC,
    static=True,
    forks=False,
)
