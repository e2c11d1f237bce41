"""Groups: no recipient is in two of them, and their members are whole registered domains."""

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from policy.hosts import site_of
from policy.rules import Groups, Layer, Pools
from policy.sections import TOP_KINDS, SectionReader
from tests.policy.hosts import HOSTS

MEMBERS = st.sampled_from(
    [
        *("a.example", "www.a.example", "*.a.example", "b.example", "x.y.b.example", "example"),
        *("*.example", "co.uk", "*.co.uk", "a.co.uk", "uk", "192.0.2.7", "2001:db8::1"),
        *("localhost", "*.github.io", "me.github.io", "kobe.jp", "a.kobe.jp", "city.kobe.jp"),
    ]
)
GIVEN = st.dictionaries(st.sampled_from("abcd"), st.lists(MEMBERS, min_size=1, max_size=3))


def read(given_: dict[str, list[str]]) -> tuple[Groups, set[str]]:
    """Return the groups, and those of them that have a recipient of an earlier one."""
    reader = SectionReader("test", Layer.FILE)
    reader.table((), {"groups": given_}, TOP_KINDS)
    refused = {problem.key.removeprefix("groups.") for problem in reader.problems("")}
    return reader.groups, refused


@given(GIVEN)
def test_groups_have_no_recipient_in_common(given_: dict[str, list[str]]) -> None:
    """A group is refused exactly if some host is meant by it and by one before it."""
    groups, refused = read(given_)
    names = list(groups)
    assert refused == {
        name
        for place, name in enumerate(names)
        for earlier in names[:place]
        if any(
            one.key == other.key or one.matches(other.key) or other.matches(one.key)
            for one, other in product(groups[name], groups[earlier])
        )
    }


@given(GIVEN, HOSTS | st.sampled_from(["a.example", "x.a.co.uk", "uk", "github.io", "x.kobe.jp"]))
def test_a_host_pools_as_its_site_does(given_: dict[str, list[str]], host: str) -> None:
    """Whoever registered it is in one group, or in none."""
    groups, refused = read(given_)
    if not refused:
        pools = Pools(groups)
        holders = [n for n, its in groups.items() if any(m.matches(site_of(host)) for m in its)]
        assert len(holders) <= 1
        assert pools.of(host) == pools.of(site_of(host))
        assert pools.of(host) == (f"@{holders[0]}" if holders else site_of(host))
        assert pools.group(host) == pools.group(site_of(host))
