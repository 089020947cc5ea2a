-- Whose turn was when, in lanes that take turns: a higher number is a later turn.

create table lane_turns (
  lane text not null,
  owner text not null,
  turn bigint not null,
  primary key (lane, owner)
);
