"""The catalogue of findings: pages that a maintainer accepts, scripts that say whether the bug is there, and an index."""
