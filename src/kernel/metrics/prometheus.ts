/// <reference path="./prom-client.d.ts" />
// Part by part: the entry point of prom-client loads OpenTelemetry, which only those who export traces should pay for.
import type { Counter, Gauge, Registry } from 'prom-client'
import CounterOf from 'prom-client/lib/counter.js'
import GaugeOf from 'prom-client/lib/gauge.js'
import HistogramOf from 'prom-client/lib/histogram.js'
import RegistryOf from 'prom-client/lib/registry.js'

/** Makes the metrics of one registry. Names and labels are promised in docs/metrics.md, which a test compares. */
export class MetricSet {
  readonly registry: Registry = new RegistryOf()

  /** `collect` is called before the metric is read. */
  counter<L extends string = never>(
    name: string,
    help: string,
    labels: L[] = [],
    collect?: (counter: Counter<L>) => void | Promise<void>,
  ) {
    const counter: Counter<L> = new CounterOf<L>({
      ...this.#shared(name, help, labels),
      ...(collect && { collect: () => collect(counter) }),
    })
    return counter
  }

  gauge<L extends string = never>(
    name: string,
    help: string,
    labels: L[] = [],
    collect?: (gauge: Gauge<L>) => void | Promise<void>,
  ) {
    const gauge: Gauge<L> = new GaugeOf<L>({
      ...this.#shared(name, help, labels),
      ...(collect && { collect: () => collect(gauge) }),
    })
    return gauge
  }

  histogram<L extends string = never>(name: string, help: string, buckets: number[], labels: L[] = []) {
    return new HistogramOf<L>({ ...this.#shared(name, help, labels), buckets })
  }

  #shared<L extends string>(name: string, help: string, labelNames: L[]) {
    return { name, help, labelNames, registers: [this.registry] }
  }
}
