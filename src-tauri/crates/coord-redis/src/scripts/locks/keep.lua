-- KEYS: lock. ARGV: owner, lease in ms, token or ''.
-- Answers 1, or 0 where it is not the owner's.
if redis.call('HGET', KEYS[1], 'owner') ~= ARGV[1] then
  return 0
end
if ARGV[3] ~= '' then
  redis.call('HSET', KEYS[1], 'token', ARGV[3])
end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
