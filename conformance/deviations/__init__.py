"""Known deviations: which differences are expected on which release, and what wrong answers look like."""
