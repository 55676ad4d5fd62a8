-- Runs that are cut into shards: their data, their levels, and what became of every item.

ALTER TABLE tasks ADD COLUMN part MEDIUMTEXT; -- which part of a sharded run it is; none: all of its run

CREATE TABLE IF NOT EXISTS shard_runs (
    instance_seq BIGINT NOT NULL PRIMARY KEY,
    fence        BIGINT NOT NULL,
    phase        VARCHAR(32) NOT NULL, -- as in `run`
    done         BIGINT NOT NULL,      -- items; grows with the steps of tasks
    run          MEDIUMTEXT NOT NULL,
    is_open      TINYINT GENERATED ALWAYS AS (CASE WHEN phase = 'over' THEN 0 ELSE 1 END) STORED,
    KEY shard_runs_open (is_open, instance_seq)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE TABLE IF NOT EXISTS shard_levels (
    instance_seq BIGINT NOT NULL,
    level        BIGINT NOT NULL,
    entry        MEDIUMTEXT NOT NULL,
    PRIMARY KEY (instance_seq, level)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- Values of a level that follow one another, one in a line. At most 1,000 of them, and 256 KiB or a single one.
CREATE TABLE IF NOT EXISTS shard_data (
    instance_seq BIGINT NOT NULL,
    draft        BIGINT NOT NULL,
    level        BIGINT NOT NULL,
    first        BIGINT NOT NULL,
    n            BIGINT NOT NULL,
    items        MEDIUMTEXT NOT NULL,
    PRIMARY KEY (instance_seq, draft, level, first)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- The same, once they are dealt to a shard. What becomes of them stands in another table, so that writing it does not
-- write the values again.
CREATE TABLE IF NOT EXISTS shard_pieces (
    instance_seq BIGINT NOT NULL,
    level        BIGINT NOT NULL,
    shard        BIGINT NOT NULL,
    first        BIGINT NOT NULL,
    items        MEDIUMTEXT NOT NULL,
    PRIMARY KEY (instance_seq, level, shard, first)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE TABLE IF NOT EXISTS shard_outcomes (
    instance_seq BIGINT NOT NULL,
    level        BIGINT NOT NULL,
    shard        BIGINT NOT NULL,
    first        BIGINT NOT NULL,
    marks        MEDIUMTEXT NOT NULL,  -- a letter for each item
    messages     MEDIUMTEXT NOT NULL,  -- by place in the piece
    PRIMARY KEY (instance_seq, level, shard, first)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
