-- ARGV: how long something stays on a shelf in ms, most at once, most of a window.
-- Answers how many returned, and 1 where there is more to do.
local most, window = tonumber(ARGV[2]), tonumber(ARGV[3])
local returned, again = 0, 0
local takers, shelves = base .. 'takers', base .. 'shelves'

for _, taker in ipairs(redis.call('ZRANGE', takers, 0, -1)) do
  local hand = hand_key(taker)
  local late = redis.call('ZRANGEBYSCORE', hand, '-inf', now, 'LIMIT', 0, most)
  local still = {}
  for _, member in ipairs(late) do
    redis.call('ZREM', hand, member)
    if place_of(string.sub(member, 2)) == 'h' .. taker then still[#still + 1] = member end
  end
  -- By lane, and in the order in which they were made.
  table.sort(still)
  to_head(still, window)
  returned = returned + #still
  if #late == most then again = 1 end
  redis.call('PEXPIRE', hand, LIFE + scatter)
  if redis.call('EXISTS', hand) == 0 and redis.call('ZSCORE', takers, taker) + LIFE < now then
    redis.call('ZREM', takers, taker)
  end
end

for _, shelf in ipairs(redis.call('ZRANGE', shelves, 0, -1)) do
  if redis.call('ZSCORE', shelves, shelf) + ARGV[1] <= now then
    local from_shelf, all = clear(shelf, most, window)
    returned = returned + from_shelf
    if not all then again = 1 end
  end
  for lane = 0, 4 do redis.call('PEXPIRE', shelf_key(shelf, lane), LIFE + scatter) end
end

for lane = 0, 4 do redis.call('PEXPIRE', lane_key(lane), LIFE + scatter) end
redis.call('PEXPIRE', takers, LIFE + scatter)
redis.call('PEXPIRE', shelves, LIFE + scatter)
for shard = 0, SHARDS - 1 do redis.call('PEXPIRE', base .. 'known:' .. shard, KNOWN_LIFE + scatter) end
return { returned, again }
