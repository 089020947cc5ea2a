-- Counts requests of one caller within a window that begins with the first of them.
-- KEYS[1]: the caller. ARGV[1]: how many; ARGV[4]: the window in seconds, which may be a fraction (the limiter passes more).
-- Returns how many were counted, and the milliseconds that the window still lasts.
local window = math.ceil(tonumber(ARGV[4]) * 1000)
redis.call('set', KEYS[1], 0, 'PX', window, 'NX')
local counted = redis.call('incrby', KEYS[1], ARGV[1])
return { counted, redis.call('pttl', KEYS[1]) }
