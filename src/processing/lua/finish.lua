-- Writes how a claim ended, if it still holds.
-- KEYS  1 the slot's list   2 task:{id}   3 the memory mark   4 the progress
-- ARGV  1 message   2 status   3 result path   4 error text   5 time   6 seconds to live   7 mark at the claim
-- Returns 1 when written, 0 when the task was taken away, was removed or has ended, -1 when Redis lost its memory meanwhile: the
-- record is put back soon, and the claim can be taken up again with touch.lua.
if redis.call('LINDEX', KEYS[1], 0) ~= ARGV[1] then
  return remembers(KEYS[3], ARGV[7]) and 0 or -1
end
local fields = redis.call('HMGET', KEYS[2], 'end_status', 'status', 'slot')
local status = fields[1] or fields[2]
if not status and not remembers(KEYS[3], ARGV[7]) then return -1 end
redis.call('LPOP', KEYS[1])
redis.call('DEL', KEYS[4])
if status ~= 'PROCESSING' or (fields[3] and fields[3] ~= KEYS[1]) then return 0 end
redis.call('HSET', KEYS[2], 'status', ARGV[2], 'result_path', ARGV[3], 'error_message', ARGV[4], 'updated_at', ARGV[5],
  'end_status', ARGV[2], 'end_result', ARGV[3], 'end_error', ARGV[4])
redis.call('EXPIRE', KEYS[2], ARGV[6])
return 1
