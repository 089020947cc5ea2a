import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { activeIn, type Ledger } from '../engine/index.ts'
import { unforeseenErrors } from '../kernel/index.ts'

/** What `/metrics` tells. Job counts are read from the ledger when somebody asks, not while jobs run. */
export class Metrics {
  readonly registry = new Registry()
  readonly requests: Histogram<'method' | 'route' | 'status'>
  readonly problems: Counter<'code'>
  readonly watchers: Gauge<'transport'>
  readonly watchersDropped: Counter<'transport'>

  constructor(ledger: Ledger) {
    const registers = [this.registry]
    collectDefaultMetrics({ register: this.registry })
    this.requests = new Histogram({
      name: 'wharf_http_request_seconds',
      help: 'Time to answer, by route',
      labelNames: ['method', 'route', 'status'],
      buckets: [0.005, 0.02, 0.1, 0.5, 2, 10],
      registers,
    })
    this.problems = new Counter({
      name: 'wharf_problems_total',
      help: 'Errors answered, by code',
      labelNames: ['code'],
      registers,
    })
    new Counter({
      name: 'wharf_unforeseen_errors_total',
      help: 'Errors that nobody foresaw since the process started; each is a fault of Wharf and stands in its log',
      registers,
      collect() {
        this.reset()
        this.inc(unforeseenErrors())
      },
    })
    this.watchers = new Gauge({
      name: 'wharf_watchers',
      help: 'Open event streams, by transport',
      labelNames: ['transport'],
      registers,
    })
    this.watchersDropped = new Counter({
      name: 'wharf_watchers_dropped_total',
      help: 'Event streams that were ended because their reader was too slow, by transport',
      labelNames: ['transport'],
      registers,
    })
    new Gauge({
      name: 'wharf_jobs',
      help: 'Jobs that have not ended, by kind and state',
      labelNames: ['kind', 'state'],
      registers,
      async collect() {
        const rows = await ledger.db
          .selectFrom('jobs')
          .select(['kind', 'state', ({ fn }) => fn.countAll<number>().as('count')])
          .where(activeIn())
          .groupBy(['kind', 'state'])
          .execute()
        this.reset()
        for (const { kind, state, count } of rows) this.set({ kind, state }, Number(count))
      },
    })
  }
}
