"""Figures as PNG and SVG, their numbers as CSV, and a page that sets them beside others.

The one room that imports matplotlib.
"""
