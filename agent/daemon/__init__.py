"""The daemon: sockets, the handling of requests, and what waits for the user."""
