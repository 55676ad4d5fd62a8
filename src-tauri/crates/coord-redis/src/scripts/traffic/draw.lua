-- KEYS: second. ARGV: life in ms, allowance, wanted. Answers how much there was.
local drawn = tonumber(redis.call('HGET', KEYS[1], 'drawn') or 0)
local given = math.max(0, math.min(tonumber(ARGV[3]), ARGV[2] - drawn))
redis.call('HSET', KEYS[1], 'drawn', drawn + given)
if redis.call('PTTL', KEYS[1]) == -1 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return given
