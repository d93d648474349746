"""One writer at a time: a lock on an open file that the system lets go of when its process dies."""

from __future__ import annotations

import sys

if sys.platform == "win32":
    import msvcrt
    import os

    # Far behind the end of any journal, because a locked range cannot be read by others.
    _FAR = 1 << 40

    def take_lock(descriptor: int) -> bool:
        """Lock the open file for writing; False where another writer holds it."""
        here = os.lseek(descriptor, 0, os.SEEK_CUR)
        os.lseek(descriptor, _FAR, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        finally:
            os.lseek(descriptor, here, os.SEEK_SET)
        return True

else:
    import fcntl

    def take_lock(descriptor: int) -> bool:
        """Lock the open file for writing; False where another writer holds it."""
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
