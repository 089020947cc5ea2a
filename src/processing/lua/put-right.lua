-- Makes a record that is older than the ledger's row say what the row says, and takes the task out of all lists.
-- KEYS  1 task:{id}   2 the queue   3 the processors (name -> slots)   4 the list that gets the task, or ''
-- ARGV  1 message   2 what a slot's list is called, up to its processor   3 created_at of the try that is meant   4 seconds to live
--       5, 6 status and updated_at that it must still have, or '' for a task that has ended   7.. field, value, ...
-- Returns 1, or 0 where the record has moved on or is of a later try: that one stays.
local fields = redis.call('HMGET', KEYS[1], 'created_at', 'status', 'updated_at')
if (tonumber(fields[1] or '') or 0) > tonumber(ARGV[3]) then return 0 end
if ARGV[5] ~= '' and (fields[2] ~= ARGV[5] or (fields[3] or '') ~= ARGV[6]) then return 0 end
redis.pcall('LREM', KEYS[2], 0, ARGV[1])
local processors = redis.call('HGETALL', KEYS[3])
for i = 1, #processors, 2 do
  for slot = 0, tonumber(processors[i + 1]) - 1 do
    redis.call('LREM', ARGV[2] .. processors[i] .. ':' .. slot, 0, ARGV[1])
  end
end
redis.call('HDEL', KEYS[1], 'slot', 'end_status', 'end_result', 'end_error')
redis.call('HSET', KEYS[1], unpack(ARGV, 7))
redis.call('EXPIRE', KEYS[1], ARGV[4])
if KEYS[4] ~= '' then
  redis.call('LREM', KEYS[4], 0, ARGV[1])
  redis.call('RPUSH', KEYS[4], ARGV[1])
end
return 1
