-- When a key was last used, to the minute: so that one which nobody uses any more can be found and ended.
alter table project_keys add column last_used_at bigint;
