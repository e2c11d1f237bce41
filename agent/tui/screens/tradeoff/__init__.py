"""The trade-off: what would leave as lambda varies, as a curve to walk along.

`screen` is the screen, `plot` the curve, `drawing` how it is drawn, `words` what is said of a set.
"""
