-- KEYS: nodes. ARGV: channel, note, node or '', until, life in ms.
-- Publishes the note; where a node is named, it is there until then.
if ARGV[3] ~= '' then
  redis.call('ZADD', KEYS[1], ARGV[4], ARGV[3])
  -- A node is named anew with each start of a program.
  redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', '(' .. (ARGV[4] - 3600000))
  redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -901)
  redis.call('PEXPIRE', KEYS[1], ARGV[5])
end
redis.call('PUBLISH', ARGV[1], ARGV[2])
return 1
