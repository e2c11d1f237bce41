"""What is done to one attribute: its value, and the rules about it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent.tui.asked import Choice, Confirm
from agent.tui.screens.profile.picking import picking
from agent.tui.screens.profile.rows import RULED, Row
from agent.tui.screens.profile.words import MEANS, edit_said, stale_said
from agent.wire.policy import AttributeStatus, Edited, PolicyEdit, Value
from agent.wire.records import Changed, Profile, ProfileChange

if TYPE_CHECKING:
    from agent.tui.app import Review

UNSET = ""  # in place of a value
UNSET_SAID = "not set: it never leaves"
UNSPECIFIED = "unspecified"  # values[0]: set like any other
UNSPECIFIED_SAID = "unspecified: you prefer not to say, which is an answer too"
TAKEN = "It never leaves then. Whoever holds it goes on to hold it."
GUARDED = "guarded"
STAYS = "is guarded: it never leaves, whatever a rule says here. g guards it no more."
LEFT_TO = ("never", "ask", "auto", "always")


@dataclass(frozen=True, slots=True)
class Doing:
    """The program, and the attribute that something is done to, as it was when that began.

    Each raises ReticentError where the daemon refuses.
    """

    review: "Review"
    row: Row

    async def value(self) -> None:
        """Set its value, or take it away after asking; who holds an older one is said."""
        said = self.row.attribute
        if not self.row.own:
            self.review.tell(f"{said.title} is set for each request; there is nothing to set.")
            return
        answers = [(each, each) for each in said.values[1:]]
        answers += [(UNSPECIFIED_SAID, UNSPECIFIED), (UNSET_SAID, UNSET)]
        asked = f"Your value of: {said.title}"
        picked = await self.review.push_screen_wait(picking(asked, answers, self._present()))
        if picked is None:
            return
        own: Profile = await self.review.link.call("profile", attended=True)
        if picked == own.values.get(said.model, {}).get(said.name, UNSET):
            self.review.tell(f"{said.title}: nothing changed.")
            return
        sure = Confirm(f"Take away your value of: {said.title}? {TAKEN}", "take it away")
        if picked == UNSET and not await self.review.push_screen_wait(sure):
            return
        stale = await _changed(self.review, said, picked or None)
        done = f"{said.title}: {'set' if picked else 'not set any more'}. u takes that back."
        self.review.tell("\n".join((done, *stale)))

    def _present(self) -> int | None:
        """Return which answer it has; none while that is hidden: it would show it."""
        values = [*self.row.attribute.values[1:], UNSPECIFIED]
        return values.index(self.row.value) if self.row.value in values else None

    async def copy(self) -> None:
        """Copy its value, after asking, also while values are hidden."""
        said = self.row.attribute
        if not self.row.is_set:
            self.review.tell(f"{said.title} is not set; there is nothing to copy.")
            return
        asked = f"Copy your value of: {said.title}? Every program of yours can read the clipboard."
        if await self.review.push_screen_wait(Confirm(asked, "copy it")):
            own: Profile = await self.review.link.call("profile", attended=True)
            self.review.copy_to_clipboard(own.values.get(said.model, {}).get(said.name, ""))
            self.review.tell("Copied.")

    async def disclose(self) -> None:
        """Say whether it may leave."""
        said = self.row.attribute
        asked = f"May it leave: {said.title}? Rule it for what it is, not for your value of it."
        if said.disclose == GUARDED:
            self.review.tell(f"{said.title} {STAYS}")
            return
        now = {said.disclose: " (so it is now)"}
        answers = [
            (f"{RULED[each]}: it {MEANS[each]}{now.get(each, '')}", each) for each in LEFT_TO
        ]
        picked = await self.review.push_screen_wait(
            Choice(asked, answers, LEFT_TO.index(said.disclose))
        )
        if picked not in (None, said.disclose):
            await self._edit({"disclose": picked}, f"{said.title}: {MEANS[picked]}")

    async def guard(self) -> None:
        """Guard it, or guard it no more."""
        said = self.row.attribute
        if said.guard:
            await self._edit({"guard": 0}, f"{said.title}: guarded no more")
        else:
            await self._edit({"guard": 1}, f"{said.title}: {MEANS['guarded']}")

    async def sensitivity(self) -> None:
        """Write what it must bring."""
        done = f"{self.row.attribute.title}: must bring {self.row.bits:.4g} bits"
        await self._edit({"sensitivity": self.row.bits}, done)

    async def _edit(self, settings: dict[str, Value], done: str) -> None:
        edit = PolicyEdit(attribute=self.row.attribute.name, set=settings)
        edited: Edited = await self.review.link.call("edit_policy", edit, attended=True)
        self.review.tell(edit_said(done, edited))


async def _changed(review: "Review", said: AttributeStatus, value: str | None) -> Iterator[str]:
    """Set a value, or take it away; return who holds an older one, in sentences."""
    change = ProfileChange(model=said.model, unset=[said.name])
    if value is not None:
        change = ProfileChange(model=said.model, set={said.name: value})
    changed: Changed = await review.link.call("change_profile", change, attended=True)
    return stale_said(changed)
