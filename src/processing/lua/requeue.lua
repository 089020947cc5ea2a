-- Puts tasks before everything that waits, in their order, at one moment.
-- KEYS  1 the list that holds their messages   2 the queue
-- Returns how many were put back.
local moved = 0
while redis.call('LMOVE', KEYS[1], KEYS[2], 'RIGHT', 'LEFT') do moved = moved + 1 end
return moved
