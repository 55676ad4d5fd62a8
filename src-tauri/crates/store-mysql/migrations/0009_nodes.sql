-- The nodes of a team, each as it last said of itself.

CREATE TABLE IF NOT EXISTS nodes (
    node    VARBINARY(512) NOT NULL PRIMARY KEY, -- of one life
    seen_at BIGINT NOT NULL,
    entry   MEDIUMTEXT NOT NULL,
    KEY nodes_seen (seen_at)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
