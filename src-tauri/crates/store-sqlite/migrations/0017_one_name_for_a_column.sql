-- Columns are called the same on every backend; some of these names are words that MySQL keeps for itself.

ALTER TABLE instances RENAME COLUMN key TO firing_key;
ALTER TABLE alarms RENAME COLUMN rule TO rule_name;
ALTER TABLE alarms RENAME COLUMN count TO times;
ALTER TABLE omissions RENAME COLUMN count TO times;
ALTER TABLE questions RENAME COLUMN count TO times;
ALTER TABLE audit RENAME COLUMN before TO before_value;
ALTER TABLE audit RENAME COLUMN after TO after_value;
