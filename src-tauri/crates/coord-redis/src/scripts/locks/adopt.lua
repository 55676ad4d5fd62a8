-- KEYS: lock. ARGV: owner, number, keeper, lease in ms (0: as it is).
-- Answers {count, token or '', ms left}, or {} where the entry is not there.
local entry = 'entry:' .. ARGV[2]
local row = redis.call('HMGET', KEYS[1], 'owner', entry, 'count', 'token')
if row[1] ~= ARGV[1] or not row[2] then
  return {}
end
redis.call('HSET', KEYS[1], entry, ARGV[3])
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[4]) then
  redis.call('PEXPIRE', KEYS[1], ARGV[4])
end
return {row[3], row[4] or '', redis.call('PTTL', KEYS[1])}
