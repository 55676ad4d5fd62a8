-- Data that was read from a file and waits for a run to take it.

CREATE TABLE staged (
    seq      INTEGER PRIMARY KEY AUTOINCREMENT,
    id       BLOB NOT NULL UNIQUE,
    at       INTEGER NOT NULL,           -- when it was written last; 0: it was discarded
    whole    INTEGER NOT NULL,
    instance BLOB,                       -- the run that has taken it
    row      TEXT NOT NULL
) STRICT;
CREATE INDEX staged_by_time ON staged (at);

-- As `shard_data` has it, into which a run takes it.
CREATE TABLE staged_data (
    staged_seq INTEGER NOT NULL,
    level      INTEGER NOT NULL,
    first      INTEGER NOT NULL,
    items      TEXT NOT NULL,
    PRIMARY KEY (staged_seq, level, first)
) STRICT;
