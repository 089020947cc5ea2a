-- Forgets a task: its place in the queue and its record.
-- KEYS  1 task:{id}   2 the queue   3 the progress
-- ARGV  1 message   2 created_at of the try that is meant
-- Returns 1, or 0 where the record is of a later try: that one stays.
local created = redis.pcall('HGET', KEYS[1], 'created_at')
created = type(created) == 'string' and tonumber(created) or 0
if created > tonumber(ARGV[2]) then return 0 end
redis.pcall('LREM', KEYS[2], 0, ARGV[1])
redis.call('DEL', KEYS[1], KEYS[3])
return 1
