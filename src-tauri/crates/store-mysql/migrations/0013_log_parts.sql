-- Which node keeps which part of an attempt's log, so that every node can show it.

CREATE TABLE IF NOT EXISTS log_parts (
    task    BINARY(16) NOT NULL,
    attempt INTEGER NOT NULL,
    part    INTEGER NOT NULL, -- in the order in which they were begun
    keeper  VARBINARY(255) NOT NULL, -- a node, through all its lives
    since   BIGINT NOT NULL,
    PRIMARY KEY (task, attempt, part)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
