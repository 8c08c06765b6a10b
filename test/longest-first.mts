import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Minutes at the end would be spent by one worker while the others idle: what takes longest begins first. */
const FIRST = [
  'test/chaos/kills-with-postgres',
  'test/e2e/the-console-is-right',
  'test/e2e/run-gives-access',
  'test/e2e/the-command-line',
  'test/e2e/the-image',
  'test/e2e/the-first-five-minutes',
  'test/e2e/an-agent-waits',
  'test/e2e/an-idle-agent',
  'test/chaos/scenarios/b-cloud',
  'test/chaos/scenarios/l-unwanted',
  // not at the same time as the other one
  'test/chaos/kills-with-redis',
  'test/chaos/scenarios/',
  'test/store/',
  'test/e2e/',
  'test/conformance/',
  'test/simulation/',
];

const rank = ({ moduleId }: TestSpecification): number => {
  const index = FIRST.findIndex((part) => moduleId.includes(`/${part}`));
  return index === -1 ? FIRST.length : index;
};

/** On a machine that has not run the tests before, only the size of the files is known. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => rank(one) - rank(other));
  }
}
