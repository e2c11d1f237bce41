"""A change of the profile says what changes with it."""

from dataclasses import replace

from agent.daemon.api import Calls
from agent.wire.state import ProfileChange
from tests.worlds.homes import SOME
from tests.worlds.people import MODEL, MONDAY, living


def test_what_follows_from_a_fact_changes_with_it_and_is_said() -> None:
    """Set, shown before, changed, undone and unset; never what was named itself."""
    by, then, *rest = MODEL.attributes
    value, other, implied = by.values[1], by.values[2], then.values[1]
    by = replace(by, implies={value: {then.name: implied}})
    model = replace(MODEL, attributes=(by, then, *rest))
    agent, _ = living(SOME, model=model)
    calls = Calls(agent, lambda: MONDAY)

    def values() -> dict[str, str | None]:
        return {each.kind: each.value for each in calls.profile().facts}

    calls.change_profile(ProfileChange(unset=[by.name, then.name]))
    old = values()
    shown = calls.change_profile(ProfileChange(set={by.name: value}, dry_run=True))
    assert values() == old
    changed = calls.change_profile(ProfileChange(set={by.name: value}))
    assert [(each.name, each.value) for each in changed.implied] == [(then.name, implied)]
    assert changed.implied == shown.implied
    assert values() == {**old, by.name: value, then.name: implied}
    back = calls.change_profile(ProfileChange(set={f"{MODEL.id}.{by.name}": other}))
    assert [(each.name, each.value) for each in back.implied] == [(then.name, "unspecified")]
    assert values()[then.name] == "unspecified"
    calls.undo()
    assert values()[then.name] == implied
    named = calls.change_profile(ProfileChange(set={by.name: value, then.name: implied}))
    assert named.implied == []
    calls.change_profile(ProfileChange(set={by.name: value, then.name: then.values[2]}))
    assert values()[then.name] == then.values[2]
    gone = calls.change_profile(ProfileChange(unset=[by.name]))
    assert [(each.name, each.value) for each in gone.implied] == [(then.name, None)]
