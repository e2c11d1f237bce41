"""The recipients: who knows what, and how few people look like that.

`board` is the list and the detail, `screen` what a person says of one; `drawn` is how the list is
drawn, `detail` all about one, `words` what is said of it, `outcome` what became of a word on it.
"""
