-- Fencing tokens of locks, by counter (a hash of the lock's name), and what nodes say of the locks held through them.

CREATE TABLE lock_tokens (
    counter INTEGER PRIMARY KEY,
    token   INTEGER NOT NULL -- the last that was given out
) STRICT;

CREATE TABLE lock_boards (
    node    TEXT PRIMARY KEY, -- of one life
    seen_at INTEGER NOT NULL,
    board   TEXT NOT NULL
) STRICT;
