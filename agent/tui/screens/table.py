"""Which screen stands behind which name."""

from collections.abc import Callable, Mapping
from typing import Any

from textual.screen import Screen

from agent.tui.page import Page


def _requests() -> Page:
    from agent.tui.screens.requests import Requests

    return Requests()


def _profile() -> Page:
    from agent.tui.screens.profile.page import ProfilePage

    return ProfilePage()


def _recipients() -> Page:
    from agent.tui.screens.recipients.screen import Recipients

    return Recipients()


def _tradeoff() -> Page:
    from agent.tui.screens.tradeoff.screen import TradeOff

    return TradeOff()


def _calibrate() -> Page:
    from agent.tui.screens.calibrate.page import CalibratePage

    return CalibratePage()


def _policy() -> Page:
    from agent.tui.screens.policy.screen import PolicyScreen

    return PolicyScreen()


def _health() -> Page:
    from agent.tui.screens.health import Health

    return Health()


PAGES: Mapping[str, Callable[[], Screen[Any]]] = {
    "requests": _requests,
    "recipients": _recipients,
    "tradeoff": _tradeoff,
    "profile": _profile,
    "calibrate": _calibrate,
    "policy": _policy,
    "health": _health,
}
