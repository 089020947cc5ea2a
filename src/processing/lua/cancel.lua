-- Ends a task that has not ended, wherever it is. A processor of ours notices that its claim is gone and stops.
-- KEYS  1 task:{id}   2 the queue   3 the processors (name -> slots)
-- ARGV  1 message   2 time   3 seconds to live   4 error text   5 what a slot's list is called, up to its processor
-- Returns 1, 0 when the task has already ended, -1 when there is none.
local status = redis.call('HGET', KEYS[1], 'end_status') or redis.call('HGET', KEYS[1], 'status')
if not status then return -1 end
if status ~= 'PENDING' and status ~= 'PROCESSING' then return 0 end
redis.pcall('LREM', KEYS[2], 0, ARGV[1])
local processors = redis.call('HGETALL', KEYS[3])
for i = 1, #processors, 2 do
  for slot = 0, tonumber(processors[i + 1]) - 1 do
    redis.call('LREM', ARGV[5] .. processors[i] .. ':' .. slot, 0, ARGV[1])
  end
end
redis.call('HSET', KEYS[1], 'status', 'FAILED', 'error_message', ARGV[4], 'updated_at', ARGV[2],
  'end_status', 'FAILED', 'end_result', '', 'end_error', ARGV[4])
redis.call('EXPIRE', KEYS[1], ARGV[3])
return 1
