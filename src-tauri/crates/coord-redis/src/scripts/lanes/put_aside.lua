-- ARGV: taker, shelf, most of a window, <lane><id> of each.
local shelf, shelves = ARGV[2], base .. 'shelves'
local known_shelf = redis.call('ZSCORE', shelves, shelf) or redis.call('ZCARD', shelves) < MOST_SHELVES
for _, member in ipairs(out_of_hand(ARGV[1], 4)) do
  local lane, id = string.sub(member, 1, 1), string.sub(member, 2)
  local key = shelf_key(shelf, lane)
  if known_shelf and redis.call('LLEN', key) < tonumber(ARGV[3]) and stands(id, 's' .. shelf) then
    redis.call('RPUSH', key, id)
    lives(key, LIFE)
    redis.call('ZADD', shelves, 'NX', now, shelf)
    lives(shelves, LIFE)
  else
    forget(id)
  end
end
return 1
