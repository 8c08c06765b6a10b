import { readFileSync } from 'node:fs';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Minutes at the end would be spent by one worker while the others idle: what takes longest begins first. */
const FIRST = [
  'test/chaos/kills-with-postgres',
  'test/e2e/the-console-is-right',
  // these wait for minutes, beside those that work
  'test/e2e/a-slow-cloud-keeps-its-lease',
  'test/e2e/the-command-line-meets',
  'test/e2e/a-ci-job-leaves',
  'test/simulation/simulation.long',
  'test/e2e/people-are-told-by-mail',
  'test/e2e/a-guarded-host-',
  'test/e2e/the-command-line-shows',
  'test/e2e/hostile-input',
  'test/e2e/closing-survives',
  'test/e2e/run-gives-access',
  'test/e2e/webhooks-tell',
  'test/e2e/one-credential',
  'test/chaos/scenarios/b-',
  'test/chaos/scenarios/l-unwanted',
  'test/conformance/azure-services',
  // not at the same time as the other one
  'test/chaos/kills-with-redis',
  'test/chaos/scenarios/',
];

/** A worker keeps two shared products: suites with the same kind of product follow each other. */
const KINDS = [
  /limitedAsShipped|CliBench|actionBench/i,
  /Drawbridge\.(?:shared|borrowed)\(\)|ownOrganization/,
  /Drawbridge\.(?:own|start)\(/,
  /Drawbridge\.(?:shared|borrowed)\(/,
];

/** Some of these wait for the time-outs of drivers: one after every few others leaves no core idle. */
const BETWEEN = '/test/conformance/';
const OTHERS_BETWEEN = 4;

const indexOr = (index: number, other: number): number => (index === -1 ? other : index);

function rank({ moduleId }: TestSpecification): number {
  const first = FIRST.findIndex((part) => moduleId.includes(`/${part}`));
  if (first !== -1) return first;
  const source = moduleId.includes('/test/e2e/') ? readFileSync(moduleId, 'utf8') : '';
  const kind = KINDS.findIndex((pattern) => pattern.test(source));
  const rest = ['/test/store/', '/test/simulation/', ''];
  return FIRST.length + indexOr(kind, KINDS.length + rest.findIndex((part) => moduleId.includes(part)));
}

/** On a machine that has not run the tests before, only the size of the files is known. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const ranks = new Map(sorted.map((file) => [file, rank(file)]));
    const ranked = sorted.toSorted((one, other) => ranks.get(one)! - ranks.get(other)!);
    const between = ranked.filter(({ moduleId }) => moduleId.includes(BETWEEN));
    const others = ranked.filter(({ moduleId }) => !moduleId.includes(BETWEEN));
    return [
      ...others.flatMap((each, index) =>
        index % OTHERS_BETWEEN === 0 ? [...between.splice(0, 1), each] : [each],
      ),
      ...between,
    ];
  }
}
