import { execFileSync } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { organization } from '../builders/accounts/organization';
import { seedSessions } from '../builders/sessions/seeded-sessions';
import { Drawbridge } from '../harness/product/drawbridge';
import { allClosed, seedOpenSessions } from './backlog';
import { figure, type Figure } from './figure';

const GROUPS = 200;
const FEW = 1000;
const MANY = 100_000;
const OVERDUE = 200;
/** Until memory is measured. */
const IDLE_MS = 20_000;

interface Start {
  /** seconds from its start */
  readonly ready: number;
  readonly firstClosed: number;
  readonly megabytes: number;
}

/** A worker starts with 1,000 and with 100,000 live sessions; 200 more are overdue. */
export async function pending(): Promise<Figure[]> {
  const few = await coldStart(FEW);
  const many = await coldStart(MANY);
  return [
    ...figuresOf('1,000 live sessions', few),
    ...figuresOf('100,000 live sessions', many),
    figure('Memory: 100,000 against 1,000', '', [many.megabytes / few.megabytes], { atMost: 1.15 }),
  ];
}

const figuresOf = (label: string, { ready, firstClosed, megabytes }: Start): Figure[] => [
  figure(`${label}: worker started to ready`, 's', [ready]),
  figure(`${label}: worker started to first overdue rule closed`, 's', [firstClosed], { atMost: 5 }),
  figure(`${label}: memory of the worker`, 'MB', [megabytes], { atMost: 300 }),
];

async function coldStart(sessions: number): Promise<Start> {
  const drawbridge = await Drawbridge.start({
    worker: false,
    simulator: { SIMULATOR_GROUPS: String(2 * GROUPS), SIMULATOR_RULES_PER_GROUP: '1000' },
  });
  try {
    const live = await organization(drawbridge, []);
    const plan = { groups: GROUPS, expiresInSeconds: 3600 };
    await seedSessions(live, { ...plan, firstGroup: 0, sessions });
    const rules = await seedOpenSessions(await organization(drawbridge, []), {
      ...plan,
      firstGroup: GROUPS,
      sessions: OVERDUE,
      before: sessions,
      expiresInSeconds: 0,
    });
    const began = Date.now();
    const worker = await drawbridge.startWorker();
    const ready = (Date.now() - began) / 1000;
    const closed = await allClosed(drawbridge, rules, 120_000);
    await pause(IDLE_MS);
    return {
      ready,
      firstClosed: (Math.min(...closed) - began) / 1000,
      megabytes: residentMegabytes(worker.pid),
    };
  } finally {
    await drawbridge.stop();
  }
}

const residentMegabytes = (pid: number): number =>
  Math.round(Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })) / 1024);
