"""Paddle's static programs of today (PIR): what is known of them before Paddle is imported."""

from conformance.backends.registry import Registration

REGISTRATION = Registration(
    opens="conformance.backends.paddle_static.engine:open_backend",
    title="Paddle, static programs",
    requires="paddle",
    script="conformance.backends.paddle_static.script:script",
    static=True,
    forks=False,
)
