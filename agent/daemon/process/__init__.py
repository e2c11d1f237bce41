"""The daemon as a process: start, sockets, locking by itself, log, end."""
