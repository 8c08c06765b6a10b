import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PLANTED_BUGS } from './planted-bugs';

const MINUTES = 60_000;
const SEEDS = process.env['SIMULATION_SEEDS'] ?? '20000';
const run = promisify(execFile);

/** What the simulation prints. @throws what it printed, when something did not hold */
async function simulate(...given: string[]): Promise<string> {
  const { stdout } = await run(process.execPath, [join(__dirname, 'run.cjs'), ...given]);
  return stdout;
}

describe('In made-up histories', () => {
  it(
    'everything that is promised holds',
    async () => expect(await simulate('--seeds', SEEDS)).toContain(': 0 with violations.'),
    20 * MINUTES,
  );

  it(
    'every planted bug is found',
    async () => {
      const found = await simulate('--bugs');
      for (const name of Object.keys(PLANTED_BUGS))
        expect(found).toMatch(new RegExp(`^${name} .*: found by seed`, 'm'));
    },
    20 * MINUTES,
  );

  it.each([
    [27, 'an add that a stale look did not show was forgotten, and stood after REMOVED'],
    [107, 'whoever waited for a rule in a second way was forgotten when the worker broke off'],
    [302, 'one way served, the other one tried again: the second was forgotten'],
    [469, 'a comparison was lost with its worker for ten minutes'],
    [569, 'a rule that was never written was looked for without end, and kept comparisons away'],
    [682, 'a late removal took a rule out under its new holder'],
    [3060, 'a rule that was left alone for an hour kept its holder PENDING when the object was gone'],
    [15429, 'APPLIED on the word of a rule that was to be looked at once more'],
    [4270, 'REMOVED on the word of a holder that failed in the same moment'],
  ])('seed %i holds: %s', async (seed) => {
    expect(await simulate('--seed', `${seed}`)).toContain(': all held.');
  });

  it('the same seed is the same history', async () => {
    expect(await simulate('--seed', '4711')).toBe(await simulate('--seed', '4711'));
  });
});
