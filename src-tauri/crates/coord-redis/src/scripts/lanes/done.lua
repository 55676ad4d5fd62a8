-- ARGV: taker, <lane><id> of each.
out_of_hand(ARGV[1], 2)
for i = 2, #ARGV do forget(string.sub(ARGV[i], 2)) end
return 1
