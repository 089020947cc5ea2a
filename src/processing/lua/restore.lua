-- Brings back a record that Redis lost, and its place in the queue if it still waits.
-- KEYS  1 task:{id}   2 the queue, or a list that becomes the head of the queue later
-- ARGV  1 message, or '' for a task that does not wait   2 seconds to live   3.. field, value, ...
-- Returns 1, or 0 when the record is there already.
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
if ARGV[1] ~= '' and not redis.call('LPOS', KEYS[2], ARGV[1]) then redis.call('RPUSH', KEYS[2], ARGV[1]) end
redis.call('HSET', KEYS[1], unpack(ARGV, 3))
redis.call('EXPIRE', KEYS[1], ARGV[2])
return 1
