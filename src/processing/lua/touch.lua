-- Says that a claim is alive, and how far its work is.
-- KEYS  1 the slot's list   2 task:{id}   3 the memory mark   4 the queue   5 the progress
-- ARGV  1 message   2 time   3 memory mark at the time of the claim   4 progress or ''   5 seconds to keep progress
-- Returns 1 while the claim holds, 0 when the task has ended, was removed or was taken away.
-- A claim that is gone because Redis lost its memory (the mark is another one) is taken up again, unless somebody else
-- was faster.
local status = redis.call('HGET', KEYS[2], 'end_status') or redis.call('HGET', KEYS[2], 'status')
if status == 'COMPLETED' or status == 'FAILED' then
  redis.call('LREM', KEYS[1], 1, ARGV[1])
  return 0
end
local known = remembers(KEYS[3], ARGV[3])
if not status and known then
  redis.call('LREM', KEYS[1], 1, ARGV[1])
  return 0
end
if redis.call('LINDEX', KEYS[1], 0) ~= ARGV[1] then
  if known then return 0 end
  if status == 'PENDING' and redis.call('LREM', KEYS[4], 1, ARGV[1]) == 0 then return 0 end
  redis.call('RPUSH', KEYS[1], ARGV[1])
end
if status then redis.call('HSET', KEYS[2], 'status', 'PROCESSING', 'updated_at', ARGV[2], 'slot', KEYS[1]) end
if ARGV[4] ~= '' then redis.call('SET', KEYS[5], ARGV[4], 'EX', ARGV[5]) end
return 1
