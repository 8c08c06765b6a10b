import { group, organization, sshTo } from '../builders/accounts/organization';
import { seedSessions } from '../builders/sessions/seeded-sessions';
import { Drawbridge } from '../harness/product/drawbridge';
import type { Fault } from '../harness/product/simulator-client';
import { until } from '../harness/until';
import { figure, quantile, type Figure } from './figure';
import { measureSessions, type Waits } from './tenant';

const STUCK_RULES = 10_000;
const STUCK_GROUPS = 200;
/** the first ten belong to the other organization */
const FIRST_GROUP = 10;
/** enough that the 99th percentile is not the maximum */
const SESSIONS = 160;
const INTERVAL_MS = 250;
const MAX_RATIO = 1.5;

const FAULTS: readonly { readonly label: string; readonly fault: Fault }[] = [
  { label: 'hang', fault: { kind: 'timeout-before' } },
  { label: 'take 10 s', fault: { kind: 'slow', delayMs: 10_000 } },
  { label: 'are throttled', fault: { kind: 'throttle' } },
];

/** Times of one organization while another has 10,000 overdue rules on targets that hang, are slow or throttled. */
export async function fairness(): Promise<Figure[]> {
  const drawbridge = await Drawbridge.start({
    worker: false,
    simulator: { SIMULATOR_GROUPS: String(FIRST_GROUP + STUCK_GROUPS), SIMULATOR_LATENCY_MS: '50' },
  });
  try {
    await drawbridge.startWorker();
    const quiet = await organization(drawbridge, sshTo(10));
    await measureSessions(quiet, 20, INTERVAL_MS);
    const before = await measureSessions(quiet, SESSIONS, INTERVAL_MS);
    const stuck = await organization(drawbridge, []);
    await setFault(drawbridge, FAULTS[0]!.fault);
    // in another region: organizations with the same account and region share its EC2 call limits
    const plan = {
      region: 'eu-west-2',
      firstGroup: FIRST_GROUP,
      groups: STUCK_GROUPS,
      sessions: STUCK_RULES,
    };
    await seedSessions(stuck, { ...plan, expiresInSeconds: 0 });
    const figures = figuresOf('quiet', before, null);
    for (const { label, fault } of FAULTS) {
      await setFault(drawbridge, fault);
      await everyStuckTargetTried(drawbridge);
      const meanwhile = await measureSessions(quiet, SESSIONS, INTERVAL_MS);
      figures.push(...figuresOf(`another's 200 targets ${label}`, meanwhile, before));
    }
    return figures;
  } finally {
    await drawbridge.stop();
  }
}

async function setFault(drawbridge: Drawbridge, fault: Fault): Promise<void> {
  await drawbridge.cloud.clearFaults();
  for (let index = 0; index < STUCK_GROUPS; index += 1) {
    await drawbridge.cloud.fault({ ...fault, target: group(FIRST_GROUP + index) });
  }
}

const everyStuckTargetTried = (drawbridge: Drawbridge): Promise<boolean> =>
  until(
    'every stuck target was tried',
    async () => {
      const [row] = await drawbridge.query<{ isLeft: boolean }>(
        `SELECT EXISTS (SELECT FROM rules WHERE state <> 'absent' AND due_at IS NOT NULL AND attempts = 0) AS "isLeft"`,
      );
      return !row!.isLeft;
    },
    120_000,
  );

function figuresOf(label: string, waits: Waits, quiet: Waits | null): Figure[] {
  const of = (name: string, samples: number[], before: number[] | undefined): Figure[] => [
    figure(`${name}, p99, ${label}`, 'ms', samples, null, 0.99),
    ...(before
      ? [
          figure(
            `${name}, p99, ${label}: times quiet`,
            '',
            [quantile(samples, 0.99) / quantile(before, 0.99)],
            {
              atMost: MAX_RATIO,
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
