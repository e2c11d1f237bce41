"""Packed codes come back, in as few bits as FORMAT.md says."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from agent.model.packing import pack, size, unpack, width

VALUES = st.one_of(st.integers(1, 300), st.sampled_from([65_536, 65_537, 2**32]))


@given(VALUES, st.data())
def test_codes_come_back(values: int, data: st.DataObject) -> None:
    """Whatever their number, also none; where the page says, and nothing beside them."""
    codes = data.draw(st.lists(st.integers(0, values - 1), max_size=40))
    packed = pack(np.array(codes, dtype=np.uint32), values)
    assert packed.dtype == np.uint8
    assert len(packed) == size(len(codes), values)
    assert unpack(packed, len(codes), values).tolist() == codes
    bits = width(values)
    whole = int.from_bytes(packed.tobytes(), "little")
    for at, code in enumerate(codes):
        count = len(packed)
        place = 8 * (at % count) + bits * (at // count) if bits < 8 else bits * at
        assert whole >> place & (1 << bits) - 1 == code
        whole -= code << place
    assert whole == 0


@given(st.integers(2, 2**32))
def test_no_code_has_more_bits_than_it_needs(values: int) -> None:
    """Half as many would not hold them all."""
    bits = width(values)
    assert values <= 1 << bits
    assert bits == 1 or values > 1 << bits // 2
