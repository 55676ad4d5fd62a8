-- KEYS: nodes. ARGV: now. Answers {node, until, ..} of those that are there.
return redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. ARGV[1], '+inf', 'WITHSCORES')
