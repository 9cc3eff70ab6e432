"""Paddle's static programs of old, before PIR: what is known of them before Paddle is imported."""

from conformance.backends.registry import Registration
from reference_impl.dialects.dialect import PADDLE_STATIC_LEGACY

REGISTRATION = Registration(
    opens="conformance.backends.paddle_static_legacy.engine:open_backend",
    title="Paddle, static programs before PIR",
    requires="paddle",
    script="conformance.backends.paddle_static_legacy.script:script",
    dialect=PADDLE_STATIC_LEGACY,
    static=True,
)
