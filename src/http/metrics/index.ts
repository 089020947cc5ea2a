export { Metrics } from './metrics.ts'
export { type MetricsAccess, MetricsServer, mayReadMetrics } from './metrics-server.ts'
