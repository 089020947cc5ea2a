-- Brings back a record that Redis lost, and its place in the queue if it still waits.
-- KEYS  1 task:{id}   2 the queue, or a list that becomes the head of the queue later
--       3 the queue, which may hold it although the record is lost
-- ARGV  1 message, or '' for a task that does not wait   2 seconds to live   3.. field, value, ...
-- Returns 1, or 0 when the record is there already.
-- What a processor wrote since may be there without a status: that is no record.
if redis.pcall('HEXISTS', KEYS[1], 'status') ~= 0 then return 0 end
if ARGV[1] ~= '' then
  if KEYS[2] ~= KEYS[3] then redis.pcall('LREM', KEYS[3], 0, ARGV[1]) end
  if not redis.call('LPOS', KEYS[2], ARGV[1]) then redis.call('RPUSH', KEYS[2], ARGV[1]) end
end
redis.call('HSET', KEYS[1], unpack(ARGV, 3))
redis.call('EXPIRE', KEYS[1], ARGV[2])
return 1
