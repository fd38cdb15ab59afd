"""sqlite3 bags (.db3) that end too early, or have damaged pages: the messages whose pages are there.

SQLite by itself opens no file that is shorter than its header says.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing

from prnet_core.io.cut_bag import BagChannel, CutBag


class CutSqlite(CutBag):
    """The readable messages of a sqlite3 bag file."""

    def _read(self) -> Iterator[tuple[int, int, bytes]]:
        """The messages in the order in which they were written."""
        self.cut_at = None
        uri = f"{self.path.absolute().as_uri()}?mode=ro&immutable=1"
        try:
            with closing(sqlite3.connect(uri, uri=True)) as database:
                database.execute("PRAGMA writable_schema = ON")  # opens a file that is too short
                for number, topic, msgtype in database.execute("SELECT id, name, type FROM topics"):
                    self._channels[number] = BagChannel(int(number), str(topic), str(msgtype), 0)
                rows = database.execute("SELECT topic_id, timestamp, data FROM messages ORDER BY id")
                for number, log_time, data in rows:
                    if number in self._channels and isinstance(data, bytes):
                        yield number, int(log_time), data
        except (sqlite3.Error, TypeError, ValueError):
            self.cut_at = self.num_bytes
