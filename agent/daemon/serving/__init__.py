"""The calls over HTTP: strict messages, limits, and the boundary where nothing is attached."""
