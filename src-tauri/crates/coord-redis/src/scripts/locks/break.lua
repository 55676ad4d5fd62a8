-- KEYS: lock. ARGV: channel, name. Answers 1 where it was held.
local was_held = redis.call('UNLINK', KEYS[1])
redis.call('PUBLISH', ARGV[1], ARGV[2])
return was_held
