import { group, organization } from '../builders/organization';
import { seedSessions } from '../builders/seeded-sessions';
import { Drawbridge } from '../harness/drawbridge';
import type { Fault } from '../harness/simulator-client';
import { until } from '../harness/until';
import { figure, quantile, type Figure } from './figure';
import { groups } from './time-to-active';
import { useQuietly, type Waits } from './tenant';

const STUCK_RULES = 10_000;
const STUCK_GROUPS = 200;
/** after the ten of the other organization */
const FIRST_GROUP = 10;
/** as many as it takes for the 99th percentile not to be the one that took longest */
const SESSIONS = 160;
const INTERVAL_MS = 250;
const MAX_TIMES = 1.5;

const TROUBLES: readonly { readonly words: string; readonly fault: Fault }[] = [
  { words: 'hang', fault: { kind: 'timeout-before' } },
  { words: 'take 10 s', fault: { kind: 'slow', delayMs: 10_000 } },
  { words: 'are throttled', fault: { kind: 'throttle' } },
];

/** One organization has ten thousand overdue rules on objects that hang, crawl or are throttled. What does another one see? */
export async function fairness(): Promise<Figure[]> {
  const drawbridge = await Drawbridge.start({
    worker: false,
    simulator: { SIMULATOR_GROUPS: String(FIRST_GROUP + STUCK_GROUPS), SIMULATOR_LATENCY_MS: '50' },
  });
  try {
    await drawbridge.startWorker();
    const quiet = await organization(drawbridge, groups());
    await useQuietly(quiet, 20, INTERVAL_MS);
    const before = await useQuietly(quiet, SESSIONS, INTERVAL_MS);
    const stuck = await organization(drawbridge, []);
    await trouble(drawbridge, TROUBLES[0]!.fault);
    // in another region: who shares an account in one shares what EC2 lets it do, whoever they are
    const plan = {
      region: 'eu-west-2',
      firstGroup: FIRST_GROUP,
      groups: STUCK_GROUPS,
      sessions: STUCK_RULES,
    };
    await seedSessions(stuck, { ...plan, expiresInSeconds: 0 });
    const figures = figuresOf('quiet', before, null);
    for (const { words, fault } of TROUBLES) {
      await trouble(drawbridge, fault);
      await everyStuckObjectTried(drawbridge);
      const meanwhile = await useQuietly(quiet, SESSIONS, INTERVAL_MS);
      figures.push(...figuresOf(`another's 200 objects ${words}`, meanwhile, before));
    }
    return figures;
  } finally {
    await drawbridge.stop();
  }
}

async function trouble(drawbridge: Drawbridge, fault: Fault): Promise<void> {
  await drawbridge.cloud.clearFaults();
  for (let index = 0; index < STUCK_GROUPS; index += 1) {
    await drawbridge.cloud.fault({ ...fault, target: group(FIRST_GROUP + index) });
  }
}

const everyStuckObjectTried = (drawbridge: Drawbridge): Promise<boolean> =>
  until(
    'every stuck object was tried',
    async () => {
      const [row] = await drawbridge.query<{ isLeft: boolean }>(
        `SELECT EXISTS (SELECT FROM rules WHERE state <> 'absent' AND due_at IS NOT NULL AND attempts = 0) AS "isLeft"`,
      );
      return !row!.isLeft;
    },
    120_000,
  );

function figuresOf(words: string, waits: Waits, quiet: Waits | null): Figure[] {
  const of = (name: string, samples: number[], before: number[] | undefined): Figure[] => [
    figure(`${name}, p99, ${words}`, 'ms', samples, null, 0.99),
    ...(before
      ? [
          figure(
            `${name}, p99, ${words}: times quiet`,
            '',
            [quantile(samples, 0.99) / quantile(before, 0.99)],
            {
              atMost: MAX_TIMES,
            },
          ),
        ]
      : []),
  ];
  return [
    ...of('POST to ACTIVE', waits.toActive, quiet?.toActive),
    ...of('stop to closed', waits.toClosed, quiet?.toClosed),
  ];
}
