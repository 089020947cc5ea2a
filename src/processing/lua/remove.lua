-- Forgets a task: its place in the queue and its record.
-- KEYS  1 task:{id}   2 the queue   3 the progress
-- ARGV  1 message
redis.pcall('LREM', KEYS[2], 0, ARGV[1])
redis.call('DEL', KEYS[1], KEYS[3])
return 1
