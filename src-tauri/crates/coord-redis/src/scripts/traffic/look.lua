-- KEYS: seconds. Answers {ms, mi, mu, md, ps, pi, pu, pd} of each.
local windows = {}
for _, key in ipairs(KEYS) do
  windows[#windows + 1] = redis.call('HMGET', key, 'ms', 'mi', 'mu', 'md', 'ps', 'pi', 'pu', 'pd')
end
return windows
