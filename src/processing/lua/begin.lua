-- Turns what BLMOVE put into a slot's list into a claim. The list is the claim: whoever takes the message out of it takes
-- the task away.
-- KEYS  1 the slot's list   2 the memory mark
-- ARGV  1 time   2 '1' to take up what a lost answer left in the list, even if it already says PROCESSING
-- Returns {'claimed', message, memory mark, traceparent or ''}, {'dropped', message} when the message is good for nothing (its task ended,
-- expired, is somebody else's, or it is no message at all), {'empty'}, or {'waits'} while the memory is an older one: the ledger may
-- know the end of what waits in it.
if is_older(redis.call('GET', KEYS[2])) then return {'waits'} end
local message = redis.call('LINDEX', KEYS[1], 0)
if not message then return {'empty'} end
local read, task = pcall(cjson.decode, message)
local status = false
local trace = ''
if read and type(task) == 'table' and type(task.task_id) == 'string' then
  local key = 'task:' .. task.task_id
  local fields = redis.pcall('HMGET', key, 'end_status', 'status', 'traceparent')
  status = not fields.err and (fields[1] or fields[2])
  trace = not fields.err and fields[3] or ''
end
if status ~= 'PENDING' and not (status == 'PROCESSING' and ARGV[2] == '1') then
  redis.call('LPOP', KEYS[1])
  return {'dropped', message}
end
redis.call('HSET', 'task:' .. task.task_id, 'status', 'PROCESSING', 'updated_at', ARGV[1], 'slot', KEYS[1])
return {'claimed', message, redis.call('GET', KEYS[2]) or '', trace}
