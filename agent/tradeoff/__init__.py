"""The mathematics: utility, identifiability, the objective and the search for its best set.

NumPy in, NumPy out. An attribute is an index, a value is a small integer code, and a set of
attributes is the integer whose bit ``i`` says that attribute ``i`` is in it: the same set is
always the same integer, whatever the path that led to it.
"""
