"""Generation: random autograd scripts over random graphs, from a source of decisions.

Nothing is imported here, so a campaign, which needs the seeded stream alone, does not load Hypothesis.
"""
