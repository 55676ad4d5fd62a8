-- Runs that are cut into shards: their data, their levels, and what became of every item.

ALTER TABLE tasks ADD COLUMN part TEXT;   -- which part of a sharded run it is; none: all of its run

CREATE TABLE shard_runs (
    instance_seq INTEGER PRIMARY KEY REFERENCES instances (seq) ON DELETE CASCADE,
    fence        INTEGER NOT NULL,
    phase        TEXT NOT NULL,           -- as in `run`
    done         INTEGER NOT NULL,        -- items; grows with the steps of tasks
    run          TEXT NOT NULL
) STRICT;
CREATE INDEX shard_runs_open ON shard_runs (instance_seq) WHERE phase <> 'over';

CREATE TABLE shard_levels (
    instance_seq INTEGER NOT NULL REFERENCES instances (seq) ON DELETE CASCADE,
    level        INTEGER NOT NULL,
    row          TEXT NOT NULL,
    PRIMARY KEY (instance_seq, level)
) STRICT, WITHOUT ROWID;

-- Values of a level that follow one another, one in a line. At most 1,000 of them, and 256 KiB or a single one.
CREATE TABLE shard_data (
    instance_seq INTEGER NOT NULL REFERENCES instances (seq) ON DELETE CASCADE,
    draft        INTEGER NOT NULL,
    level        INTEGER NOT NULL,
    first        INTEGER NOT NULL,
    count        INTEGER NOT NULL,
    items        TEXT NOT NULL,
    PRIMARY KEY (instance_seq, draft, level, first)
) STRICT;

-- The same, once they are dealt to a shard. What becomes of them stands in another table, so that writing it does not
-- write the values again.
CREATE TABLE shard_pieces (
    instance_seq INTEGER NOT NULL REFERENCES instances (seq) ON DELETE CASCADE,
    level        INTEGER NOT NULL,
    shard        INTEGER NOT NULL,
    first        INTEGER NOT NULL,
    items        TEXT NOT NULL,
    PRIMARY KEY (instance_seq, level, shard, first)
) STRICT;

CREATE TABLE shard_outcomes (
    instance_seq INTEGER NOT NULL REFERENCES instances (seq) ON DELETE CASCADE,
    level        INTEGER NOT NULL,
    shard        INTEGER NOT NULL,
    first        INTEGER NOT NULL,
    marks        TEXT NOT NULL,           -- a letter for each item
    messages     TEXT NOT NULL,           -- by place in the piece
    PRIMARY KEY (instance_seq, level, shard, first)
) STRICT;
