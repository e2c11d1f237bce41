"""Generators of hosts, and of texts that nearly are some."""

from hypothesis import strategies as st

from policy.hosts import host_of

LABELS = st.sampled_from(["a", "b", "ab", "1", "_x", "xn--bcher-kva", "localhost", "github", "co"])
DOMAINS = st.builds(
    lambda labels, top: ".".join([*labels, top]),
    st.lists(LABELS, max_size=3),
    st.sampled_from(["a", "ab", "localhost", "io", "uk", "kobe.jp"]),
)
ADDRESSES = st.one_of(
    st.ip_addresses().map(str), st.sampled_from(["1.2.3.4", "2.3.4.1", "::1", "2001:db8::1"])
)
HOSTS = (DOMAINS | ADDRESSES).map(host_of)
# Pieces of hosts and URLs, so that many texts are hosts, or nearly.
PIECES = st.lists(
    st.sampled_from([*".:/@[]%*-_\\ #?。．ßςẞİ…℀", "xn--", "http://", "::", "1", "0x", "a", "ü"])
    | st.characters(),
    max_size=12,
).map("".join)
