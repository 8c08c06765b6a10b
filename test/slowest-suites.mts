import { relative } from 'node:path';
import type { Reporter, TestModule } from 'vitest/node';

const SHOWN = 10;

/** Prints at the end which suites took longest. */
export class SlowestSuites implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    if (modules.length <= SHOWN) return;
    const lines = modules
      .map((module) => ({ path: module.moduleId, seconds: module.diagnostic().duration / 1000 }))
      .toSorted((one, other) => other.seconds - one.seconds)
      .slice(0, SHOWN)
      .map(({ path, seconds }) => `${seconds.toFixed(0).padStart(5)} s  ${relative(process.cwd(), path)}`);
    process.stderr.write(`\nThe slowest of ${modules.length} suites:\n${lines.join('\n')}\n`);
  }
}
