-- Which node keeps which part of an attempt's log, so that every node can show it.

CREATE TABLE log_parts (
    task    BLOB NOT NULL,
    attempt INTEGER NOT NULL,
    part    INTEGER NOT NULL, -- in the order in which they were begun
    keeper  TEXT NOT NULL, -- a node, through all its lives
    since   INTEGER NOT NULL,
    PRIMARY KEY (task, attempt, part)
) STRICT, WITHOUT ROWID;
