-- Whoever writes incidents holds this gate until it has committed, beside all others that do. Whoever has it alone knows
-- that no number is on its way that is lower than one which it sees.
INSERT INTO gates (gate) VALUES ('incidents') ON DUPLICATE KEY UPDATE gate = gate;
