-- Fencing tokens of locks, by counter (a hash of the lock's name), and what nodes say of the locks held through them.

CREATE TABLE IF NOT EXISTS lock_tokens (
    counter INTEGER NOT NULL PRIMARY KEY,
    token   BIGINT NOT NULL -- the last that was given out
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE TABLE IF NOT EXISTS lock_boards (
    node    VARBINARY(512) NOT NULL PRIMARY KEY, -- of one life
    seen_at BIGINT NOT NULL,
    board   MEDIUMTEXT NOT NULL
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
