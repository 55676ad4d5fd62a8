-- Data that was read from a file and waits for a run to take it.

CREATE TABLE IF NOT EXISTS staged (
    seq      BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    id       BINARY(16) NOT NULL,
    at       BIGINT NOT NULL,      -- when it was written last; 0: it was discarded
    whole    TINYINT NOT NULL,
    instance BINARY(16),           -- the run that has taken it
    entry    MEDIUMTEXT NOT NULL,
    UNIQUE KEY staged_by_id (id),
    KEY staged_by_time (at)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- As `shard_data` has it, into which a run takes it.
CREATE TABLE IF NOT EXISTS staged_data (
    staged_seq BIGINT NOT NULL,
    level      BIGINT NOT NULL,
    first      BIGINT NOT NULL,
    items      MEDIUMTEXT NOT NULL,
    PRIMARY KEY (staged_seq, level, first)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
