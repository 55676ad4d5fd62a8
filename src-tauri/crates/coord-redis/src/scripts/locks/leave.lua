-- KEYS: lock. ARGV: owner, number, keeper, lease in ms, channel, name.
-- Answers how often it is still entered, or -1 where the entry is not there or not its keeper's.
local entry = 'entry:' .. ARGV[2]
local row = redis.call('HMGET', KEYS[1], 'owner', entry)
if row[1] ~= ARGV[1] or row[2] ~= ARGV[3] then
  return -1
end
redis.call('HDEL', KEYS[1], entry)
local count = redis.call('HINCRBY', KEYS[1], 'count', -1)
if count > 0 then
  if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[4]) then
    redis.call('PEXPIRE', KEYS[1], ARGV[4])
  end
  return count
end
redis.call('UNLINK', KEYS[1])
redis.call('PUBLISH', ARGV[5], ARGV[6])
return 0
