-- The first form of everything that is kept.
--
-- `seq` is the order of making: lists and cursors go by it, and AUTOINCREMENT never gives a number twice.
-- Ids are 16 bytes, times are milliseconds since 1970 in UTC, and what no query looks into is JSON text.
-- What the engine asks for is found by partial indexes, so that nothing it does depends on how much history there is.

CREATE TABLE leases (
    lease  TEXT PRIMARY KEY,
    holder TEXT NOT NULL,
    term   INTEGER NOT NULL,
    until  INTEGER NOT NULL -- zero: given up
) STRICT, WITHOUT ROWID;

CREATE TABLE jobs (
    seq           INTEGER PRIMARY KEY AUTOINCREMENT,
    id            BLOB NOT NULL UNIQUE,
    name          TEXT NOT NULL,
    version       INTEGER NOT NULL,
    spec          TEXT NOT NULL,
    fixed_delay   INTEGER NOT NULL, -- 1: its next time depends on the end of an instance
    search        TEXT NOT NULL,    -- name, tenant and tags in lower case, a line each
    saved_at      INTEGER NOT NULL,
    fired_through INTEGER NOT NULL,
    next_due      INTEGER,
    paused        INTEGER NOT NULL,
    last_final_at INTEGER,
    removed       INTEGER NOT NULL DEFAULT 0,
    made_through  INTEGER,          -- the latest planned time that became an instance
    purge_mark    INTEGER,          -- the ledger begins here: a due time
    instances     INTEGER NOT NULL DEFAULT 0 -- how many are kept, so that retention need not count
) STRICT;
CREATE UNIQUE INDEX jobs_by_name ON jobs (name) WHERE removed = 0;
CREATE UNIQUE INDEX jobs_in_order ON jobs (name COLLATE NOCASE, seq) WHERE removed = 0;
CREATE INDEX jobs_by_id ON jobs (id) WHERE removed = 0;
CREATE INDEX jobs_due ON jobs (next_due, seq) WHERE next_due IS NOT NULL AND removed = 0;
CREATE INDEX jobs_in_delay ON jobs (seq) WHERE next_due IS NULL AND removed = 0 AND fixed_delay = 1;
CREATE INDEX jobs_by_size ON jobs (instances);

CREATE TABLE job_versions (
    job      BLOB NOT NULL,
    version  INTEGER NOT NULL,
    spec     TEXT NOT NULL,
    saved_at INTEGER NOT NULL,
    saved_by TEXT NOT NULL,
    PRIMARY KEY (job, version)
) STRICT, WITHOUT ROWID;

CREATE TABLE ledger_spans (
    seq       INTEGER PRIMARY KEY AUTOINCREMENT,
    job       BLOB NOT NULL,
    version   INTEGER NOT NULL,
    zone_data TEXT NOT NULL,
    from_at   INTEGER NOT NULL,
    to_at     INTEGER NOT NULL,
    planned   INTEGER NOT NULL,
    made      INTEGER NOT NULL,
    not_made  INTEGER NOT NULL
) STRICT;
CREATE INDEX ledger_spans_of_job ON ledger_spans (job, seq);

CREATE TABLE omissions (
    seq     INTEGER PRIMARY KEY AUTOINCREMENT,
    job     BLOB NOT NULL,
    version INTEGER NOT NULL,
    from_at INTEGER NOT NULL,
    to_at   INTEGER NOT NULL,
    count   INTEGER NOT NULL,
    reason  TEXT NOT NULL
) STRICT;
CREATE INDEX omissions_of_job ON omissions (job, seq);
CREATE INDEX omissions_by_time ON omissions (to_at, seq);

CREATE TABLE instances (
    seq         INTEGER PRIMARY KEY AUTOINCREMENT,
    id          BLOB NOT NULL UNIQUE,
    job         BLOB NOT NULL,
    version     INTEGER NOT NULL,
    origin      TEXT NOT NULL,
    key         TEXT NOT NULL,
    planned     INTEGER NOT NULL,
    due         INTEGER NOT NULL,
    not_before  INTEGER NOT NULL,
    reason      TEXT,
    created     INTEGER NOT NULL,
    state       TEXT NOT NULL,
    beside      INTEGER NOT NULL,
    replaces    INTEGER NOT NULL,
    lane        INTEGER NOT NULL,
    parameters  TEXT,
    repeats     BLOB,
    asked_by    TEXT,
    assigned_at INTEGER, -- null: it has no tasks
    started_at  INTEGER,
    finished_at INTEGER,
    result      TEXT
) STRICT;
CREATE UNIQUE INDEX instances_once ON instances (job, origin, key);
CREATE INDEX instances_of_job ON instances (job, seq);
CREATE INDEX instances_unfinished ON instances (job, seq) WHERE state IN ('waiting', 'running');
CREATE INDEX instances_unassigned ON instances (seq) WHERE state = 'waiting' AND assigned_at IS NULL;
CREATE INDEX instances_replacing ON instances (job, seq) WHERE state = 'waiting' AND replaces = 1;
CREATE INDEX instances_by_state ON instances (state, seq);
CREATE INDEX instances_by_due ON instances (due, seq);
CREATE INDEX instances_finished ON instances (finished_at, state) WHERE finished_at IS NOT NULL;

CREATE TABLE tasks (
    seq            INTEGER PRIMARY KEY AUTOINCREMENT,
    id             BLOB NOT NULL UNIQUE,
    instance_seq   INTEGER NOT NULL REFERENCES instances (seq) ON DELETE CASCADE,
    instance       BLOB NOT NULL,
    job            BLOB NOT NULL,
    version        INTEGER NOT NULL,
    grp            TEXT NOT NULL,
    processor      TEXT NOT NULL,
    limits         TEXT NOT NULL,
    state          INTEGER NOT NULL,
    attempt        INTEGER NOT NULL,
    fence          INTEGER NOT NULL,
    lane           INTEGER NOT NULL,
    due_at         INTEGER NOT NULL,
    ready_at       INTEGER,
    pushed_at      INTEGER,
    started_at     INTEGER,
    finished_at    INTEGER,
    deadline_at    INTEGER,
    executor_group TEXT,
    executor_name  TEXT,
    executor_boot  TEXT,
    sequence       INTEGER NOT NULL,
    retries_used   INTEGER NOT NULL,
    lost_unstarted INTEGER NOT NULL,
    stop           TEXT,
    failure        TEXT,
    result         TEXT
) STRICT;
CREATE INDEX tasks_of_instance ON tasks (instance_seq, seq);
CREATE INDEX tasks_by_state ON tasks (state, instance_seq, seq);
CREATE INDEX tasks_waiting ON tasks (due_at, seq) WHERE state = 100;
CREATE INDEX tasks_ready ON tasks (grp, processor, lane, ready_at, seq) WHERE state = 101;
CREATE INDEX tasks_deadline ON tasks (deadline_at, seq) WHERE state IN (201, 202) AND deadline_at IS NOT NULL;
CREATE INDEX tasks_held ON tasks (executor_group, executor_name, executor_boot, seq) WHERE state IN (201, 202, 203);
CREATE INDEX tasks_stopping ON tasks (seq) WHERE state IN (201, 202, 203) AND stop IS NOT NULL;

CREATE TABLE task_moves (
    seq      INTEGER PRIMARY KEY AUTOINCREMENT,
    task_seq INTEGER NOT NULL REFERENCES tasks (seq) ON DELETE CASCADE,
    at       INTEGER NOT NULL,
    from_state INTEGER NOT NULL,
    to_state   INTEGER NOT NULL,
    attempt  INTEGER NOT NULL,
    executor TEXT,
    node     TEXT NOT NULL,
    reason   TEXT
) STRICT;
CREATE INDEX task_moves_of_task ON task_moves (task_seq, seq);

CREATE TABLE incidents (
    seq      INTEGER PRIMARY KEY AUTOINCREMENT,
    at       INTEGER NOT NULL,
    kind     TEXT NOT NULL,
    job      BLOB NOT NULL,
    instance BLOB,
    task     BLOB,
    executor TEXT,
    failure  TEXT
) STRICT;
CREATE INDEX incidents_by_time ON incidents (at, seq);

-- How far a reader has come.
CREATE TABLE marks (
    reader TEXT PRIMARY KEY,
    mark   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE alarms (
    seq          INTEGER PRIMARY KEY AUTOINCREMENT,
    id           BLOB NOT NULL UNIQUE,
    fence        INTEGER NOT NULL,
    rule         TEXT NOT NULL,
    severity     INTEGER NOT NULL,
    subject      TEXT NOT NULL,
    job          BLOB,
    message      TEXT NOT NULL,
    state        TEXT NOT NULL,
    first_at     INTEGER NOT NULL,
    last_at      INTEGER NOT NULL,
    count        INTEGER NOT NULL,
    streak       INTEGER NOT NULL,
    acknowledged TEXT,
    resolved_at  INTEGER,
    -- Worst and latest first is from the greatest down: severity, last_at and the end of seq in one number.
    rank         INTEGER NOT NULL GENERATED ALWAYS AS
                 ((severity << 61) | (min(max(last_at, 0), 8796093022207) << 18) | (seq & 262143)) VIRTUAL
) STRICT;
CREATE INDEX alarms_of_subject ON alarms (rule, subject, seq);
CREATE INDEX alarms_open ON alarms (seq) WHERE state IN ('firing', 'acknowledged');
CREATE INDEX alarms_by_rank ON alarms (rank);
CREATE INDEX alarms_by_state ON alarms (state, rank);
CREATE INDEX alarms_resolved ON alarms (resolved_at) WHERE state = 'resolved';

CREATE TABLE requests (
    seq      INTEGER PRIMARY KEY AUTOINCREMENT,
    id       BLOB NOT NULL UNIQUE,
    who      TEXT NOT NULL,
    ask      TEXT NOT NULL,
    asked_at INTEGER NOT NULL,
    answer   TEXT
) STRICT;
CREATE INDEX requests_open ON requests (seq) WHERE answer IS NULL;
CREATE INDEX requests_answered ON requests (asked_at, seq) WHERE answer IS NOT NULL;

CREATE TABLE audit (
    seq     INTEGER PRIMARY KEY AUTOINCREMENT,
    at      INTEGER NOT NULL,
    who     TEXT NOT NULL,
    action  TEXT NOT NULL,
    subject TEXT NOT NULL,
    before  TEXT,
    after   TEXT
) STRICT;

CREATE TABLE settings (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
