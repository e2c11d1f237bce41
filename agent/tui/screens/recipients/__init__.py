"""The recipients: who knows what, and how few people look like that.

`screen` is the screen, `drawn` its list, `detail` all about one, `words` what is said of it.
"""
