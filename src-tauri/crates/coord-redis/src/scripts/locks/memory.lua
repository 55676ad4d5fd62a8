-- KEYS: mark. ARGV: how long the mark outlives its last use, in ms.
-- Answers for how many ms nothing has been forgotten here: whatever forgets the locks forgets the mark.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('SET', KEYS[1], now, 'NX')
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return now - tonumber(redis.call('GET', KEYS[1]))
