-- KEYS: lock, waiters. Answers {owner, count, token or '', ms left, waiters}, or {} where it is free.
local row = redis.call('HMGET', KEYS[1], 'owner', 'count', 'token')
if not row[1] then
  return {}
end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local waiters = redis.call('ZCOUNT', KEYS[2], '(' .. now, '+inf')
return {row[1], row[2], row[3] or '', redis.call('PTTL', KEYS[1]), waiters}
