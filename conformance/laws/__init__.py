"""Laws: relations between an engine's own answers, which hold whatever the right answer is.

A law turns a case into a trial: a few cases as data, and relations between what one engine answers to them. No reference value is in
it, so laws judge an engine that is run alone. What the reference contributes is only how far rounding can carry a number.
"""
