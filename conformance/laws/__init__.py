"""Laws: metamorphic relations between an engine's own answers, which hold whatever the right answer is.

A test needs to know the right answer, and of an engine that is run alone nobody does. But answers to related questions are related:
whatever the gradient is, with twice the seed it is twice that. Such a relation is called *metamorphic*, after T. Y. Chen, S. C. Cheung
and S. M. Yiu, "Metamorphic testing: a new approach for generating next test cases", technical report HKUST-CS98-01, 1998. The question
that one starts from is the *source case*, those that are made from it the *follow-up cases*.

Here a law turns a case into a trial: a few cases as data, and relations between what one engine answers to them. No reference value is
in it. What the reference contributes is only how far rounding can carry a number. For example, ``linear-seed`` takes a call out of a
case, asks for the gradient with the seeds ``s``, ``t`` and ``2 s - t``, and demands that the third answer is twice the first less the
second.
"""
