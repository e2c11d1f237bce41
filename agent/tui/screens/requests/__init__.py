"""What left, why, and what waits for the user's word: the list of requests, and one in detail."""

from agent.tui.screens.requests.page import Requests

__all__ = ["Requests"]
