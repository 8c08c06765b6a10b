import { Gauge, type Registry } from 'prom-client';
import { answerWithin } from './answer-within';

/** Prometheus gives up a scrape after ten seconds. */
const ANSWER_TIMEOUT_MS = 2000;

/** The labels of a sample, and its value. */
export type Sample<Label extends string> = readonly [labels: Record<Label, string>, value: number];

/**
 * Registers a gauge that is read on each scrape.
 * @param unknown shown instead while nothing answers: a failure must not take the other metrics with it
 */
export function scrapedGauge<Label extends string = never>(
  registry: Registry,
  options: { readonly name: string; readonly help: string; readonly labelNames: readonly Label[] },
  read: () => Promise<readonly Sample<Label>[]>,
  unknown: readonly Sample<Label>[],
): void {
  const gauge: Gauge<Label> = new Gauge({
    ...options,
    registers: [registry],
    collect: async () => {
      // the shown value says that it failed
      const samples = await answerWithin(ANSWER_TIMEOUT_MS, read()).catch(() => unknown);
      gauge.reset();
      for (const [labels, value] of samples) gauge.set(labels, value);
    },
  });
}
