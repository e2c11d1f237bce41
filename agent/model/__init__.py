"""The model: what was learned from many people, as one value and as one file.

`file.read` opens a file and gives a `model.Model`; FORMAT.md in this folder describes the file.
"""
