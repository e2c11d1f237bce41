"""The results of Krause & Horvitz (2010), section 7, on any model: one module per figure.

Each computes its numbers as a frozen value, purely: from a subject, settings and a seed.
"""
