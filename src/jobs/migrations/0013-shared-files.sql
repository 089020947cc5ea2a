-- What an instance says of itself, so that another one can tell whether it sees the same files: the data dir it runs on,
-- where it keeps finished files, and what it wrote into its marker in the shared folder. Null: an older version.

alter table instances add column home text;
alter table instances add column store text;
alter table instances add column marker text;
