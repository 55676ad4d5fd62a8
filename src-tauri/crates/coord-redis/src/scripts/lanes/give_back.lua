-- ARGV: taker, most of a window, <lane><id> of each.
to_head(out_of_hand(ARGV[1], 3), tonumber(ARGV[2]))
return 1
