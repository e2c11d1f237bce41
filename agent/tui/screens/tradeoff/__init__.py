"""The trade-off: what would leave as lambda varies, as a curve to walk along.

`board` asks for curves and shows one, `screen` is what a person does with it; `plot` is the curve,
`drawing` how it is drawn, `words` what is said of a set.
"""
