-- KEYS: second. ARGV: life in ms, 'add' or 'set', field and figure of each.
for i = 3, #ARGV, 2 do
  redis.call(ARGV[2] == 'add' and 'HINCRBY' or 'HSET', KEYS[1], ARGV[i], ARGV[i + 1])
end
if redis.call('PTTL', KEYS[1]) == -1 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return 1
