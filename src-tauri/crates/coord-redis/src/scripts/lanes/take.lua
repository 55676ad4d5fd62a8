-- ARGV: taker, most, most in hand, lease in ms, lowest lane, shelves. Answers <lane><id> of each.
local taker = ARGV[1]
local hand = hand_key(taker)
local most = math.min(tonumber(ARGV[2]), tonumber(ARGV[3]) - redis.call('ZCARD', hand))
if redis.call('ZCARD', base .. 'takers') >= MOST_TAKERS and not redis.call('ZSCORE', base .. 'takers', taker) then
  return {}
end
local taken, scored = {}, {}
local function from(key, lane, place)
  while #taken < most do
    local ids = redis.call('LPOP', key, most - #taken)
    if not ids then return end
    for _, id in ipairs(ids) do
      if place_of(id) == place then
        stands(id, 'h' .. taker)
        taken[#taken + 1] = lane .. id
        redis.call('ZADD', hand, now + ARGV[4], lane .. id)
      end
    end
  end
end
local shelves = {}
for i = 6, #ARGV do
  if redis.call('ZSCORE', base .. 'shelves', ARGV[i]) then shelves[#shelves + 1] = ARGV[i] end
end
for lane = 0, tonumber(ARGV[5]) do
  for _, shelf in ipairs(shelves) do from(shelf_key(shelf, lane), lane, 's' .. shelf) end
  from(lane_key(lane), lane, 'l' .. lane)
end
if #taken > 0 then
  lives(hand, LIFE)
  redis.call('ZADD', base .. 'takers', now, taker)
  lives(base .. 'takers', LIFE)
end
return taken
