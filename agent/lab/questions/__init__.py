"""What people say that privacy is worth to them: the paper's survey, and a second one.

`asked` has the paper's questions, `stated` what its text says was answered, `replies` what one
person answers. `ratings` reads the second survey, `mapping` says which of its items speaks of which
attribute of Table 1, `defaults` makes bits of both, `beside` sets one beside the other. SOURCES.md
tells it in words.
"""
