-- KEYS: lock, waiters. ARGV: owner, number, keeper, lease in ms, how long it waits in ms (0: it does not).
-- Answers {1, count, token or ''} or {0, holder, ms left}.
local holder = redis.call('HGET', KEYS[1], 'owner')
if not holder or holder == ARGV[1] then
  redis.call('HSET', KEYS[1], 'owner', ARGV[1])
  local count = redis.call('HSET', KEYS[1], 'entry:' .. ARGV[2], ARGV[3])
  count = redis.call('HINCRBY', KEYS[1], 'count', count)
  if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[4]) then
    redis.call('PEXPIRE', KEYS[1], ARGV[4])
  end
  redis.call('ZREM', KEYS[2], ARGV[1])
  return {1, count, redis.call('HGET', KEYS[1], 'token') or ''}
end
local waits = tonumber(ARGV[5])
if waits > 0 then
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
  -- They are counted for people to see: of a crowd, a thousand are enough.
  if redis.call('ZCARD', KEYS[2]) < 1000 then
    redis.call('ZADD', KEYS[2], now + waits, ARGV[1])
  end
  if redis.call('PTTL', KEYS[2]) < waits then
    redis.call('PEXPIRE', KEYS[2], waits)
  end
end
return {0, holder, redis.call('PTTL', KEYS[1])}
