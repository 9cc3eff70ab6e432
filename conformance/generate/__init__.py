"""Generation: random autograd scripts over random graphs, from a source of decisions.

Nothing is imported here: who only needs the seeded stream does not load Hypothesis, nor the other way round.
"""
