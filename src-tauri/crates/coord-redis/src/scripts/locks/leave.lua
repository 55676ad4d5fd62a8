-- KEYS: lock. ARGV: owner, lease in ms, channel, name.
-- Answers how often it is still entered, or -1 where it is not the owner's.
if redis.call('HGET', KEYS[1], 'owner') ~= ARGV[1] then
  return -1
end
local count = redis.call('HINCRBY', KEYS[1], 'count', -1)
if count > 0 then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return count
end
redis.call('UNLINK', KEYS[1])
redis.call('PUBLISH', ARGV[3], ARGV[4])
return 0
