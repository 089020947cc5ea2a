-- A job of a fair lane whose source failed lets the owner's jobs that were not tried yet go first. See lanes.ts.

-- Of a job that was put back: its time in the order of its owner's jobs, in place of created_at.
alter table jobs add column queued_at bigint;
drop index jobs_ready;
create index jobs_ready on jobs (lane, coalesce(owner, ''), priority, coalesce(queued_at, created_at), id)
  where state = 'waiting' and paused_until is null;

--@postgres
-- As in 0046, in the new order.

create or replace function wharf_queue_owner(of_lane text, of_owner text) returns void language plpgsql
  set enable_seqscan = off set enable_bitmapscan = off set plan_cache_mode = force_generic_plan as
  $$ begin
    delete from lane_queue q where q.lane = of_lane and q.owner = of_owner
      and not (exists (select 1 from jobs j where j.lane = of_lane and coalesce(j.owner, '') = of_owner
          and j.priority = q.priority and j.state = 'waiting' and j.paused_until is null)
        and not exists (select 1 from lane_shares s where s.lane = of_lane and s.owner = of_owner and s.max_running <= 0));
    insert into lane_queue (lane, priority, owner, turn, since, head)
      select of_lane, p.priority, of_owner, coalesce(t.turn, 0), j.since, j.id
      from (values (0), (1)) as p (priority)
      cross join lateral (select f.id, coalesce(f.queued_at, f.created_at) as since from jobs f where f.lane = of_lane and coalesce(f.owner, '') = of_owner
        and f.priority = p.priority and f.state = 'waiting' and f.paused_until is null
        order by coalesce(f.queued_at, f.created_at), f.id limit 1) as j
      left join lane_turns t on t.lane = of_lane and t.owner = of_owner
      where not exists (select 1 from lane_shares s where s.lane = of_lane and s.owner = of_owner and s.max_running <= 0)
    on conflict (lane, priority, owner) do update
      set turn = excluded.turn, since = excluded.since, head = excluded.head
      where lane_queue.turn <> excluded.turn or lane_queue.since <> excluded.since or lane_queue.head <> excluded.head;
  end $$;

create or replace function wharf_admit(of_lane text, changed text[], grace_ms bigint)
  returns table (id text, kind text, delay bigint) language plpgsql
  set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
  set plan_cache_mode = force_generic_plan as
  $$ declare
    places record;
    taken bigint := 0;
    passed text[] := '{}';
    next record;
    chosen text;
  begin
    select l.max_running, l.policy, case when l.max_running > 0 then l.reserve else 0 end as reserve into places
      from lanes l where l.name = of_lane for no key update;
    if not found then return; end if;
    if places.policy = 'fair' then
      perform wharf_queue_owner(of_lane, c.owner) from (select distinct unnest(changed) as owner) as c;
    end if;
    if places.max_running is not null then
      select count(*) into taken from jobs j where j.lane = of_lane and j.state in ('pending', 'running');
    end if;
    while places.max_running is null or taken < places.max_running + places.reserve loop
      if places.policy <> 'fair' then
        exit when taken >= places.max_running;
        -- One whose row another transaction holds is left out: that one admits as well.
        select j.id into chosen from jobs j where j.lane = of_lane and j.state = 'waiting'
          and j.state in ('waiting', 'pending', 'running') order by j.created_at, j.id limit 1
          for no key update skip locked;
        exit when not found;
      else
        select * into next from (
          select * from (select q.owner, q.priority, 0 as held, q.turn, q.since, q.head from lane_queue q
            where q.lane = of_lane and q.owner <> all (passed)
              and not exists (select 1 from jobs h where h.lane = of_lane and coalesce(h.owner, '') = q.owner
                and h.state in ('pending', 'running'))
            order by q.priority, q.turn, q.since, q.head limit 1) as without_any
          union all
          select * from (select q.owner, q.priority, h.held, q.turn, q.since, q.head
            from (select coalesce(j.owner, '') as owner, count(*) as held from jobs j
              where j.lane = of_lane and j.state in ('pending', 'running') group by 1) as h
            join lane_queue q on q.lane = of_lane and q.owner = h.owner
            where coalesce(taken < places.max_running, true) and q.owner <> all (passed)
              and not exists (select 1 from lane_shares s where s.lane = of_lane and s.owner = h.owner
                and s.max_running <= h.held)
            order by q.priority, h.held, q.turn, q.since, q.head limit 1) as with_some
        ) as both_of_them order by priority, held, turn, since, head limit 1;
        exit when not found;
        select j.id into chosen from jobs j where j.lane = of_lane and coalesce(j.owner, '') = next.owner
          and j.priority = next.priority and j.state = 'waiting' and j.paused_until is null
          order by coalesce(j.queued_at, j.created_at), j.id limit 1 for no key update skip locked;
        if not found then
          perform wharf_queue_owner(of_lane, next.owner);
          passed := passed || next.owner;
          continue;
        end if;
      end if;
      return query update jobs j set state = 'pending', paused_until = null, wake_at = greatest(j.due_at, wharf_now()) + grace_ms
        where j.id = chosen returning j.id, j.kind, j.due_at - wharf_now();
      taken := taken + 1;
      if places.policy = 'fair' then
        insert into lane_turns as t (lane, owner, turn) values (of_lane, next.owner,
            (select coalesce(max(l.turn), 0) + 1 from lane_turns l where l.lane = of_lane))
          on conflict (lane, owner) do update set turn = excluded.turn;
        perform wharf_queue_owner(of_lane, next.owner);
      end if;
    end loop;
  end $$;
--@all
