-- ARGV: shelf, most at once, most of a window. Answers 1 where all of it has returned.
local _, all = clear(ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]))
return all and 1 or 0
