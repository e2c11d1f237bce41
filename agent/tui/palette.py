"""The command palette: every action of the screen that is shown, by its name."""

from collections.abc import Awaitable, Callable
from functools import partial

from textual.command import DiscoveryHit, Hit, Hits, Provider

from agent.tui.actions.action import Action
from agent.tui.actions.all import actions_of
from agent.tui.page import Page

NAMED = 1000.0  # more than any match: whoever types the whole name means that


class Actions(Provider):
    """Finds actions by what they are called, and by what they do."""

    async def discover(self) -> Hits:
        """Yield all of them."""
        for each in self._actions():
            yield DiscoveryHit(each.label, self._doing(each), help=each.help)

    async def search(self, query: str) -> Hits:
        """Yield those that fit what is typed."""
        words = query.strip()
        matcher = self.matcher(words)
        for each in self._actions():
            text = f"{each.label}: {each.help}"
            score = matcher.match(text)
            if score > 0:
                best = score + NAMED if each.label.casefold() == words.casefold() else score
                yield Hit(best, matcher.highlight(text), self._doing(each))

    def _actions(self) -> tuple[Action, ...]:
        return actions_of(self.screen.where) if isinstance(self.screen, Page) else ()

    def _doing(self, action: Action) -> Callable[[], Awaitable[object]]:
        """Return what does it, where it belongs: in the program or in the screen."""
        where = self.app if action.where == "everywhere" else self.screen
        return partial(self.app.run_action, action.name, where)
