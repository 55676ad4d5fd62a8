-- What the scripts of the lanes share. KEYS[1] is the prefix of all keys of one group, which stand under its hash tag;
-- which of them a script touches depends on the ids that it meets, so the names are made here:
--   lane:<lane>            list of ids: the lane's window
--   shelf:<shelf>:<lane>   list of ids
--   hand:<taker>           sorted set of <lane><id> by the end of the lease
--   known:<0..63>          hash of ids to the place where each stands: l<lane>, h<taker> or s<shelf>
--   takers, shelves        sorted sets of names by the time they were last, or first, used
-- An id in a list counts only where `known` says that it stands there. `known` expires before the lists do: an id that
-- nothing is known of may stand in the lanes twice, and one that is wrongly known would never come back.
local base = KEYS[1]
local SHARDS, MOST_KNOWN, MOST_SHELVES, MOST_TAKERS = 64, 1000, 900, 900
local LIFE, KNOWN_LIFE = 1200000, 600000
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local scatter = time[2] % 60000

local function lane_key(lane) return base .. 'lane:' .. lane end
local function shelf_key(shelf, lane) return base .. 'shelf:' .. shelf .. ':' .. lane end
local function hand_key(taker) return base .. 'hand:' .. taker end
local function known_key(id) return base .. 'known:' .. (string.byte(id, #id) % SHARDS) end

local function lives(key, life)
  if redis.call('PTTL', key) == -1 then redis.call('PEXPIRE', key, life + scatter) end
end

local function place_of(id) return redis.call('HGET', known_key(id), id) end

local function forget(id) redis.call('HDEL', known_key(id), id) end

-- False where nothing more can be known.
local function stands(id, place)
  local key = known_key(id)
  if redis.call('HSET', key, id, place) == 1 and redis.call('HLEN', key) > MOST_KNOWN then
    redis.call('HDEL', key, id)
    return false
  end
  lives(key, KNOWN_LIFE)
  return true
end

-- The ids of members that were still in the taker's hand, and are no more.
local function out_of_hand(taker, first)
  local out = {}
  for i = first, #ARGV do
    if redis.call('ZREM', hand_key(taker), ARGV[i]) == 1 then out[#out + 1] = ARGV[i] end
  end
  return out
end

-- Members, that is <lane><id>, to the head of their lanes in their order.
local function to_head(members, window)
  for i = #members, 1, -1 do
    local lane, id = string.sub(members[i], 1, 1), string.sub(members[i], 2)
    local key = lane_key(lane)
    if redis.call('LLEN', key) < window and stands(id, 'l' .. lane) then
      redis.call('LPUSH', key, id)
      lives(key, LIFE)
    else
      forget(id)
    end
  end
end

-- Up to `most` ids of a shelf return to their lanes, the last ones first so that their order stays. Says how many, and
-- whether the shelf is empty.
local function clear(shelf, most, window)
  local returned, looked = 0, 0
  for lane = 4, 0, -1 do
    local key = shelf_key(shelf, lane)
    while looked < most do
      local id = redis.call('RPOP', key)
      if not id then break end
      looked = looked + 1
      if place_of(id) == 's' .. shelf then
        to_head({ lane .. id }, window)
        returned = returned + 1
      end
    end
  end
  if looked < most then
    redis.call('ZREM', base .. 'shelves', shelf)
    return returned, true
  end
  return returned, false
end
