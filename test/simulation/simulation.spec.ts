import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PLANTED_BUGS } from './planted-bugs';

const MINUTES = 60_000;
const SEEDS = process.env['SIMULATION_SEEDS'] ?? '5000';
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

  it('the same seed is the same history', async () => {
    expect(await simulate('--seed', '4711')).toBe(await simulate('--seed', '4711'));
  });
});
