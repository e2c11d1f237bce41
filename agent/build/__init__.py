"""Tables to model, offline (the `build` extra).

What is counted is written once, in Ibis expressions over two tables, `users` and `events`; DuckDB
runs them here, and another engine can where the tables are larger. What comes back from them are
integers, and from there on everything is NumPy.
"""
