"""What holds for all tests."""

from hypothesis import settings

settings.register_profile("untimed", deadline=None)  # how long an example takes is the machine's affair
settings.load_profile("untimed")
