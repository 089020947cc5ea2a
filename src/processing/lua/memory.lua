-- In front of every script. The memory mark says in which run of Redis its tasks were last compared with the ledger: `run:time:random`.
-- One of another run came out of a snapshot, and so may all the rest; one without a run was made by an earlier version.
local function run_id()
  local info = redis.pcall('INFO', 'server')
  return type(info) == 'string' and string.match(info, 'run_id:(%w+)') or ''
end
local function is_older(mark)
  local run = mark and string.match(mark, '^(%w*):')
  return run and run ~= run_id()
end
-- Whether what was claimed with `claimed` as the mark is still in this memory.
local function remembers(key, claimed)
  local mark = redis.call('GET', key) or ''
  return mark == claimed and not is_older(mark)
end
