"""What is wrong with a request before anybody looks at what it asks for."""

from agent.errors import ReticentError


class RefusedError(ReticentError):
    """A request that is not answered; ``code``: its kind, of agent/wire/faults.py."""

    def __init__(self, code: str, what: str, hint: str, status: int | None = None) -> None:
        """``status``: of HTTP, where it is not the one that goes with the code."""
        super().__init__(what, hint)
        self.code = code
        self.status = status
