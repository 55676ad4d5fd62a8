-- ARGV: lane, how far it is filled, ids. Answers how much room is left.
local lane, key = ARGV[1], lane_key(ARGV[1])
local room = tonumber(ARGV[2]) - redis.call('LLEN', key)
for i = 3, #ARGV do
  if room <= 0 then break end
  local id = ARGV[i]
  local place = place_of(id)
  local is_new = not place or (string.sub(place, 1, 1) == 'l' and place ~= 'l' .. lane)
  if is_new and stands(id, 'l' .. lane) then
    redis.call('RPUSH', key, id)
    room = room - 1
  end
end
lives(key, LIFE)
return math.max(room, 0)
