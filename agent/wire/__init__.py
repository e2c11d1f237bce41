"""The messages, the document that describes them, and the client over a Unix socket."""
