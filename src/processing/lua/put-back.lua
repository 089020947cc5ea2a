-- Puts a task back into the queue, or ends it when it was put back too often.
-- KEYS  1 the slot's list that holds it, or '' when no list does   2 task:{id}   3 the queue
-- ARGV  1 message   2 time   3 'head', 'tail' or 'fail'   4 error text for 'fail'   5 seconds to live for 'fail'
--       6, 7 without a list: status and updated_at that it must still have
-- Returns 1 when done, 0 when the task has moved on by itself.
local status = redis.call('HGET', KEYS[2], 'end_status') or redis.call('HGET', KEYS[2], 'status')
if KEYS[1] ~= '' then
  if redis.call('LREM', KEYS[1], 1, ARGV[1]) == 0 then return 0 end
  if status ~= 'PENDING' and status ~= 'PROCESSING' then return 0 end
  -- Another slot has taken it up since.
  if status == 'PROCESSING' and (redis.call('HGET', KEYS[2], 'slot') or KEYS[1]) ~= KEYS[1] then return 0 end
else
  if status ~= ARGV[6] or redis.call('HGET', KEYS[2], 'updated_at') ~= ARGV[7] then return 0 end
  if redis.call('LPOS', KEYS[3], ARGV[1]) then return 0 end
end
if ARGV[3] == 'fail' then
  redis.call('HSET', KEYS[2], 'status', 'FAILED', 'error_message', ARGV[4], 'updated_at', ARGV[2],
    'end_status', 'FAILED', 'end_result', '', 'end_error', ARGV[4])
  redis.call('EXPIRE', KEYS[2], ARGV[5])
  return 1
end
redis.call(ARGV[3] == 'head' and 'LPUSH' or 'RPUSH', KEYS[3], ARGV[1])
redis.call('HSET', KEYS[2], 'status', 'PENDING', 'updated_at', ARGV[2])
redis.call('HDEL', KEYS[2], 'slot')
return 1
