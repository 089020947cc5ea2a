-- Ends a record for good: what anybody writes into it later counts no more. A record that has such an end already is put
-- right by it.
-- KEYS  1 task:{id}
-- ARGV  1 status   2 result path   3 error text   4 seconds to live   5, 6 status and result path that it must still have
-- Returns 1 when the record has an end of this kind now, 0 when it has moved on or is gone.
local sealed = redis.call('HMGET', KEYS[1], 'end_status', 'end_result', 'end_error', 'status', 'result_path')
if not sealed[1] then
  if sealed[4] ~= ARGV[5] or (sealed[5] or '') ~= ARGV[6] then return 0 end
  sealed = {ARGV[1], ARGV[2], ARGV[3]}
  redis.call('HSET', KEYS[1], 'end_status', sealed[1], 'end_result', sealed[2], 'end_error', sealed[3])
  redis.call('EXPIRE', KEYS[1], ARGV[4])
end
redis.call('HSET', KEYS[1], 'status', sealed[1], 'result_path', sealed[2], 'error_message', sealed[3])
return 1
