"""The extension's modules, without a browser."""
