"""The extension in real browsers, before real sites, and a stand-in for the daemon."""
