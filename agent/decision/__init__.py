"""One request, whole and pure: request + terms + knowledge + model -> decision with reasons.

A decision is simulatable (DESIGN.md 2.6): nothing here ever sees a value of the user's that
the recipient does not hold already, nor whether one is set.
"""
