"""The idx format of the MNIST family, in as much detail as those files use."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Third byte of the magic number: unsigned bytes, the only type these files use.
_UNSIGNED_BYTE = 0x08


def idx_payload_offset(data: bytes) -> int:
    """Return where the examples begin; raises ValueError for another format."""
    if len(data) < 8 or data[:2] != b"\0\0" or data[2] != _UNSIGNED_BYTE:
        raise ValueError("not an idx file of unsigned bytes")
    return 4 + 4 * data[3]


def _shape(data: bytes) -> tuple[int, ...]:
    offset = idx_payload_offset(data)
    return struct.unpack(f">{data[3]}I", data[4:offset])


def to_array(data: bytes) -> NDArray[np.uint8]:
    """Return the examples as a writable numpy array."""
    import numpy as np

    payload = np.frombuffer(data, np.uint8, offset=idx_payload_offset(data))
    array: NDArray[np.uint8] = payload.reshape(_shape(data)).copy()
    return array
