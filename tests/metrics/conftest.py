"""Settings of the property tests: no time limit per example, since machines are shared."""

from hypothesis import settings

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
