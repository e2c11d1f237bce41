"""What people say that privacy is worth to them: the paper's survey, and a second one.

`survey` has the paper's: questions, stated answers, replies of a person. `ratings` reads the second
one and says which of its items speaks of which attribute of Table 1; `defaults` makes bits of both
and compares them. SOURCES.md tells it in words.
"""
