-- Writes one window into the mirror: its job unless a newer state of it is there, and the targets that are missing.
-- Safe to repeat and in any order, so that late writes and a rebuild cannot undo or double anything.
--
-- KEYS[1] the job      KEYS[2] the list of targets      KEYS[3] what was mirrored of this window
-- ARGV[1] seconds to live      ARGV[2] version of the job      ARGV[3] the job as JSON
-- ARGV[4…] targets as JSON, oldest first
-- Returns how many targets were added.
local seen = KEYS[3]
local version = tonumber(ARGV[2])
if version > tonumber(redis.call('HGET', seen, 'version') or '-1') then
  redis.call('SET', KEYS[1], ARGV[3])
  redis.call('HSET', seen, 'version', version)
end
local added = 0
for i = 4, #ARGV do
  if redis.call('HSETNX', seen, 't' .. redis.sha1hex(ARGV[i]), 1) == 1 then
    redis.call('LPUSH', KEYS[2], ARGV[i])
    added = added + 1
  end
end
for i = 1, 3 do redis.call('EXPIRE', KEYS[i], ARGV[1]) end
return added
