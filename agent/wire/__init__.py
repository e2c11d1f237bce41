"""The messages, the routes, and the client over a Unix socket."""
