-- The first form of everything that is kept; what each table is for stands with its twin for SQLite.
--
-- A step is a statement that ends its line with a semicolon. The server commits each by itself, so a step must be one
-- that can be sent again.
--
-- There are no partial indexes here. What the engine asks for begins with a column that sets apart what is still to be
-- done (a state, a flag made of a null), so that it reads past nothing else. Text is utf8mb4 compared by bytes; that
-- collation takes no notice of spaces at the end, so whatever is a key is VARBINARY, and a key of any length has a
-- hash beside it. Tables do not refer to each other: a check would lock rows that nobody writes.

CREATE TABLE IF NOT EXISTS leases (
    lease    VARBINARY(255) NOT NULL PRIMARY KEY,
    holder   VARBINARY(512) NOT NULL,
    term     BIGINT NOT NULL,
    until_at BIGINT NOT NULL -- zero: given up
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- Rows that stand for nothing but their own lock.
CREATE TABLE IF NOT EXISTS gates (
    gate VARBINARY(64) NOT NULL PRIMARY KEY
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

INSERT INTO gates (gate) VALUES ('claims') ON DUPLICATE KEY UPDATE gate = gate;

-- How much was written, in several rows, so that writers do not wait for each other.
CREATE TABLE IF NOT EXISTS changes (
    slot  INT NOT NULL PRIMARY KEY,
    times BIGINT NOT NULL
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

INSERT INTO changes (slot, times)
    VALUES (0, 0), (1, 0), (2, 0), (3, 0), (4, 0), (5, 0), (6, 0), (7, 0),
           (8, 0), (9, 0), (10, 0), (11, 0), (12, 0), (13, 0), (14, 0), (15, 0)
    ON DUPLICATE KEY UPDATE slot = slot;

CREATE TABLE IF NOT EXISTS jobs (
    seq           BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    id            BINARY(16) NOT NULL,
    name          VARCHAR(255) NOT NULL,
    version       BIGINT NOT NULL,
    spec          MEDIUMTEXT NOT NULL,
    fixed_delay   TINYINT NOT NULL,     -- 1: its next time depends on the end of an instance
    sort_name     VARBINARY(1024) NOT NULL, -- in lower case
    search        MEDIUMTEXT NOT NULL,  -- name, tenant and tags in lower case, a line each
    tags          MEDIUMTEXT NOT NULL,  -- a line each, with a line break on both sides
    saved_at      BIGINT NOT NULL,
    fired_through BIGINT NOT NULL,
    next_due      BIGINT,
    paused        TINYINT NOT NULL,
    last_final_at BIGINT,
    removed       TINYINT NOT NULL DEFAULT 0,
    made_through  BIGINT,               -- the latest planned time that became an instance
    purge_mark    BIGINT,               -- the ledger begins here: a due time
    instances     BIGINT NOT NULL DEFAULT 0, -- how many are kept, so that retention need not count
    live_name     VARBINARY(1020) GENERATED ALWAYS AS (CASE WHEN removed = 0 THEN name END) STORED,
    UNIQUE KEY jobs_by_id (id),
    UNIQUE KEY jobs_by_name (live_name),
    KEY jobs_in_order (removed, sort_name, seq),
    KEY jobs_due (removed, next_due, seq),
    KEY jobs_in_delay (removed, fixed_delay, next_due, seq),
    KEY jobs_by_size (instances)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE TABLE IF NOT EXISTS job_versions (
    job      BINARY(16) NOT NULL,
    version  BIGINT NOT NULL,
    spec     MEDIUMTEXT NOT NULL,
    saved_at BIGINT NOT NULL,
    saved_by VARCHAR(512) NOT NULL,
    PRIMARY KEY (job, version)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE TABLE IF NOT EXISTS ledger_spans (
    seq       BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    job       BINARY(16) NOT NULL,
    version   BIGINT NOT NULL,
    zone_data VARCHAR(64) NOT NULL,
    from_at   BIGINT NOT NULL,
    to_at     BIGINT NOT NULL,
    planned   BIGINT NOT NULL,
    made      BIGINT NOT NULL,
    not_made  BIGINT NOT NULL,
    KEY ledger_spans_of_job (job, seq)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE TABLE IF NOT EXISTS omissions (
    seq     BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    job     BINARY(16) NOT NULL,
    version BIGINT NOT NULL,
    from_at BIGINT NOT NULL,
    to_at   BIGINT NOT NULL,
    times   BIGINT NOT NULL,
    reason  VARCHAR(32) NOT NULL,
    KEY omissions_of_job (job, seq),
    KEY omissions_by_time (to_at, seq)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE TABLE IF NOT EXISTS instances (
    seq         BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    id          BINARY(16) NOT NULL,
    job         BINARY(16) NOT NULL,
    version     BIGINT NOT NULL,
    origin      VARCHAR(32) NOT NULL,
    firing_key  MEDIUMTEXT NOT NULL,
    planned     BIGINT NOT NULL,
    due         BIGINT NOT NULL,
    not_before  BIGINT NOT NULL,
    reason      MEDIUMTEXT,
    created     BIGINT NOT NULL,
    state       VARCHAR(32) NOT NULL,
    beside      TINYINT NOT NULL,
    replaces    TINYINT NOT NULL,
    lane        TINYINT NOT NULL,
    parameters  MEDIUMTEXT,
    repeats     BINARY(16),
    asked_by    VARCHAR(512),
    executor    VARCHAR(512),     -- picked by a person
    assigned_at BIGINT,           -- null: it has no tasks
    several     TINYINT NOT NULL DEFAULT 0,
    started_at  BIGINT,
    finished_at BIGINT,
    result      MEDIUMTEXT,
    failure     MEDIUMTEXT,
    firing_hash BINARY(32) GENERATED ALWAYS AS (UNHEX(SHA2(firing_key, 256))) STORED,
    UNIQUE KEY instances_by_id (id),
    UNIQUE KEY instances_once (job, origin, firing_hash),
    KEY instances_of_job (job, seq),
    KEY instances_of_job_by_state (job, state, seq),
    KEY instances_by_state (state, seq),
    KEY instances_unassigned (state, assigned_at, seq),
    KEY instances_replacing (replaces, state, job, seq),
    KEY instances_several (several, state, seq),
    KEY instances_by_due (due, seq),
    KEY instances_finished (finished_at, state)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE TABLE IF NOT EXISTS tasks (
    seq            BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    id             BINARY(16) NOT NULL,
    instance_seq   BIGINT NOT NULL,
    instance       BINARY(16) NOT NULL,
    job            BINARY(16) NOT NULL,
    version        BIGINT NOT NULL,
    grp            VARCHAR(512) NOT NULL,
    processor      VARCHAR(512) NOT NULL,
    limits         MEDIUMTEXT NOT NULL,
    state          SMALLINT NOT NULL,
    attempt        BIGINT NOT NULL,
    fence          BIGINT NOT NULL,
    lane           TINYINT NOT NULL,
    due_at         BIGINT NOT NULL,
    ready_at       BIGINT,
    pushed_at      BIGINT,
    started_at     BIGINT,
    finished_at    BIGINT,
    deadline_at    BIGINT,
    executor_group VARBINARY(512),
    executor_name  VARBINARY(512),
    executor_boot  VARBINARY(512),
    sequence       BIGINT NOT NULL,
    retries_used   BIGINT NOT NULL,
    lost_unstarted BIGINT NOT NULL,
    handed_back    BIGINT NOT NULL,
    stop           MEDIUMTEXT,
    failure        MEDIUMTEXT,
    result         MEDIUMTEXT,
    need           MEDIUMTEXT NOT NULL, -- tasks with equal needs can go, or wait, for the same reasons
    tenant         VARBINARY(512),      -- as in need
    expires_at     BIGINT,
    lane_since     BIGINT,
    promote_at     BIGINT,              -- by the clock of the lanes, which stands still during a hold
    promotions     BIGINT NOT NULL,
    need_hash      BINARY(32) GENERATED ALWAYS AS (UNHEX(SHA2(need, 256))) STORED,
    UNIQUE KEY tasks_by_id (id),
    KEY tasks_of_instance (instance_seq, seq),
    KEY tasks_by_state (state, instance_seq, seq),
    KEY tasks_waiting (state, due_at, seq),
    KEY tasks_ready (state, need_hash, lane, lane_since, seq),
    KEY tasks_promotable (state, promote_at, seq),
    KEY tasks_expiring (state, expires_at, seq),
    KEY tasks_deadline (state, deadline_at, seq),
    KEY tasks_held (state, executor_group, executor_name, executor_boot, seq)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE TABLE IF NOT EXISTS task_moves (
    seq        BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    task_seq   BIGINT NOT NULL,
    at         BIGINT NOT NULL,
    from_state SMALLINT NOT NULL,
    to_state   SMALLINT NOT NULL,
    attempt    BIGINT NOT NULL,
    executor   VARCHAR(512),
    node       VARCHAR(512) NOT NULL,
    reason     MEDIUMTEXT,
    KEY task_moves_of_task (task_seq, seq)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE TABLE IF NOT EXISTS incidents (
    seq      BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    at       BIGINT NOT NULL,
    kind     VARCHAR(64) NOT NULL,
    job      BINARY(16) NOT NULL,
    instance BINARY(16),
    task     BINARY(16),
    executor VARCHAR(512),
    failure  MEDIUMTEXT,
    KEY incidents_by_time (at, seq)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- How far a reader has come.
CREATE TABLE IF NOT EXISTS marks (
    reader VARBINARY(64) NOT NULL PRIMARY KEY,
    mark   BIGINT NOT NULL
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE TABLE IF NOT EXISTS alarms (
    seq          BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    id           BINARY(16) NOT NULL,
    fence        BIGINT NOT NULL,
    rule_name    VARCHAR(64) NOT NULL,
    severity     TINYINT NOT NULL,
    subject      MEDIUMTEXT NOT NULL,
    job          BINARY(16),
    message      MEDIUMTEXT NOT NULL,
    state        VARCHAR(32) NOT NULL,
    first_at     BIGINT NOT NULL,
    last_at      BIGINT NOT NULL,
    times        BIGINT NOT NULL,
    streak       BIGINT NOT NULL,
    acknowledged MEDIUMTEXT,
    resolved_at  BIGINT,
    -- Worst and latest first is from the greatest down: severity, last_at and the end of seq in one number.
    place        BIGINT NOT NULL DEFAULT 0,
    subject_hash BINARY(32) GENERATED ALWAYS AS (UNHEX(SHA2(subject, 256))) STORED,
    UNIQUE KEY alarms_by_id (id),
    KEY alarms_of_subject (rule_name, subject_hash, seq),
    KEY alarms_by_place (place),
    KEY alarms_by_state (state, place),
    KEY alarms_resolved (state, resolved_at)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE TABLE IF NOT EXISTS requests (
    seq      BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    id       BINARY(16) NOT NULL,
    who      MEDIUMTEXT NOT NULL,
    ask      MEDIUMTEXT NOT NULL,
    asked_at BIGINT NOT NULL,
    answer   MEDIUMTEXT,
    is_open  TINYINT GENERATED ALWAYS AS (CASE WHEN answer IS NULL THEN 1 ELSE 0 END) STORED,
    UNIQUE KEY requests_by_id (id),
    KEY requests_open (is_open, seq),
    KEY requests_answered (is_open, asked_at, seq)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE TABLE IF NOT EXISTS audit (
    seq          BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    at           BIGINT NOT NULL,
    who          VARCHAR(512) NOT NULL,
    action       VARCHAR(255) NOT NULL,
    subject      MEDIUMTEXT NOT NULL,
    before_value MEDIUMTEXT,
    after_value  MEDIUMTEXT
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE TABLE IF NOT EXISTS settings (
    name  VARBINARY(1020) NOT NULL PRIMARY KEY,
    value MEDIUMTEXT NOT NULL
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- Which jobs run after which, by the names that their versions say.
CREATE TABLE IF NOT EXISTS chains (
    upstream VARBINARY(1020) NOT NULL,
    job      BINARY(16) NOT NULL,
    PRIMARY KEY (upstream, job),
    KEY chains_of_job (job)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- Ends of instances, as they wait for a job that follows.
CREATE TABLE IF NOT EXISTS endings (
    seq      BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    job      BINARY(16) NOT NULL,
    upstream BINARY(16) NOT NULL,
    instance BINARY(16) NOT NULL,
    state    VARCHAR(32) NOT NULL,
    at       BIGINT NOT NULL,
    kept     TINYINT NOT NULL DEFAULT 0, -- 1: it was looked at, and waits for others
    KEY endings_new (kept, seq),
    KEY endings_of_job (job, kept, seq)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE TABLE IF NOT EXISTS questions (
    seq      BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    id       BINARY(16) NOT NULL,
    job      BINARY(16) NOT NULL,
    version  BIGINT NOT NULL,
    from_at  BIGINT NOT NULL,
    to_at    BIGINT NOT NULL,
    times    BIGINT NOT NULL,
    asked_at BIGINT NOT NULL,
    until_at BIGINT NOT NULL,
    answer   MEDIUMTEXT,
    is_open  TINYINT GENERATED ALWAYS AS (CASE WHEN answer IS NULL THEN 1 ELSE 0 END) STORED,
    UNIQUE KEY questions_by_id (id),
    KEY questions_open (is_open, until_at, seq),
    KEY questions_answered (is_open, asked_at, seq),
    KEY questions_by_time (asked_at, seq)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE TABLE IF NOT EXISTS backfills (
    seq        BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    id         BINARY(16) NOT NULL,
    job        BINARY(16) NOT NULL,
    version    BIGINT NOT NULL,
    from_at    BIGINT NOT NULL,
    to_at      BIGINT NOT NULL,
    through_at BIGINT NOT NULL,
    planned    BIGINT NOT NULL,
    made       BIGINT NOT NULL,
    asked_by   VARCHAR(512) NOT NULL,
    asked_at   BIGINT NOT NULL,
    ended      MEDIUMTEXT,
    is_open    TINYINT GENERATED ALWAYS AS (CASE WHEN ended IS NULL THEN 1 ELSE 0 END) STORED,
    UNIQUE KEY backfills_by_id (id),
    KEY backfills_open (is_open, seq),
    KEY backfills_ended (is_open, asked_at, seq),
    KEY backfills_of_job (job, seq)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- Executors, for people and for programs that do not drive the engine. Nothing is dispatched by it.
CREATE TABLE IF NOT EXISTS executors (
    grp     VARBINARY(512) NOT NULL,
    name    VARBINARY(512) NOT NULL,
    seen    MEDIUMTEXT NOT NULL,
    gone_at BIGINT,
    drain   MEDIUMTEXT, -- who said that it is to take nothing new, and why
    PRIMARY KEY (grp, name),
    KEY executors_gone (gone_at)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
