"""A raw search log to the two tables that a model is built from (paper, section 5).

`schema` says what the tables of a log hold, `attributes` what a model says of them: Table 1.
What lies between is counted in Ibis expressions, as in the room above.
"""
