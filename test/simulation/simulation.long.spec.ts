import { PLANTED_BUGS } from './planted-bugs';
import { simulate } from './simulate';

const MINUTES = 60_000;
const SEEDS = process.env['SIMULATION_SEEDS'] ?? '400';

describe('The simulation, at length', () => {
  it(
    `finds no violation in ${SEEDS} seeds`,
    async () => expect(await simulate('--seeds', SEEDS)).toContain(': 0 with violations.'),
    20 * MINUTES,
  );

  it(
    'finds every planted bug',
    async () => {
      const found = await simulate('--bugs');
      const [searched] = /.* were searched for: .*\n/.exec(found) ?? [];
      if (searched !== undefined) process.stderr.write(searched);
      for (const name of Object.keys(PLANTED_BUGS))
        expect(found).toMatch(new RegExp(`^${name} .*: found by seed`, 'm'));
    },
    40 * MINUTES,
  );
});
