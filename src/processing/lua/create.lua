-- Makes a task: its record and its place in the queue, both or neither.
-- KEYS  1 task:{id}   2 the queue
-- ARGV  1 message for the queue   2 seconds to live   3 error text when the queue refuses   4 created_at
--       5.. field, value, ...
-- Returns 'queued', 'known' when the task is already there, or 'refused' when the queue's key holds another type; then
-- the record says FAILED. The record of an earlier try (it was taken back, and Redis carried it out late) gives way.
if redis.call('EXISTS', KEYS[1]) == 1 then
  local created = tonumber(redis.call('HGET', KEYS[1], 'created_at') or '')
  if not created or created >= tonumber(ARGV[4]) then return 'known' end
  redis.pcall('LREM', KEYS[2], 0, ARGV[1])
  redis.call('DEL', KEYS[1])
end
local pushed = redis.pcall('RPUSH', KEYS[2], ARGV[1])
redis.call('HSET', KEYS[1], unpack(ARGV, 5))
redis.call('EXPIRE', KEYS[1], ARGV[2])
if type(pushed) == 'table' and pushed.err then
  redis.call('HSET', KEYS[1], 'status', 'FAILED', 'error_message', ARGV[3])
  return 'refused'
end
return 'queued'
