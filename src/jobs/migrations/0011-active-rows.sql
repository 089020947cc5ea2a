-- Statements that are sent for every task or list find what they need without reading what has ended.

-- A project's or an account's unfinished jobs.
create index jobs_active_of_owner on jobs (owner, kind) where state in ('waiting', 'pending', 'running');

-- The last turn of a lane, however many owners it has had.
create index lane_turns_by_turn on lane_turns (lane, turn);
