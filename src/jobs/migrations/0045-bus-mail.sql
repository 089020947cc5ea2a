-- Messages between instances while Redis, which carries them, is away. Each row has what one instance said within a moment. Nobody reads or
-- writes here while Redis answers.
create table bus_mail (
  id text primary key,
  sent_at bigint not null,
  -- JSON: the sealed messages.
  messages text not null
);
create index bus_mail_sent on bus_mail (sent_at);
