"""The one world of the tests: people, homes, daemons and their doors."""
