-- KEYS  1 the memory mark
-- Returns {the run of Redis, 'none', 'older' or 'current', the mark or ''}.
local run = run_id()
local mark = redis.call('GET', KEYS[1])
if not mark then return {run, 'none', ''} end
return {run, string.sub(mark, 1, #run + 1) == run .. ':' and 'current' or 'older', mark}
