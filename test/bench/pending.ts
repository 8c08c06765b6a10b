import { execFileSync } from 'node:child_process';
import { organization, type Organization } from '../builders/accounts/organization';
import type { SeededRule } from '../builders/sessions/seeded-sessions';
import { openInCloud, seedSessions } from '../builders/sessions/seeded-sessions';
import { Drawbridge } from '../harness/product/drawbridge';
import { allClosed } from './backlog';
import { figure, type Figure } from './figure';

const GROUPS = 200;
const FEW = 1000;
const MANY = 100_000;
const OVERDUE = 200;
const OBSERVED_MS = 20_000;
/** Of a monitoring system that reads the metrics. */
const SCRAPE_INTERVAL_MS = 1000;

interface Start {
  /** seconds from its start */
  readonly ready: number;
  readonly firstClosed: number;
  readonly megabytes: number;
  /** rows per second that sequential scans of the large tables read while the worker was idle */
  readonly scanned: number;
}

/** A worker starts with 1,000 and with 100,000 live sessions; 200 more are overdue. */
export async function pending(): Promise<Figure[]> {
  const few = await coldStart(FEW);
  const many = await coldStart(MANY);
  return [
    ...figuresOf('1,000 live sessions', few),
    ...figuresOf('100,000 live sessions', many),
    // not for 1,000 sessions: PostgreSQL reads small tables with sequential scans
    figure('100,000 live sessions: rows read by sequential scans', '/s', [many.scanned], { atMost: 100 }),
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
    const rules = await overdueOf(await organization(drawbridge, []), sessions);
    const began = Date.now();
    const worker = await drawbridge.startWorker({ METRICS_PORT: '0' });
    const ready = (Date.now() - began) / 1000;
    const closed = await allClosed(drawbridge, rules, 120_000);
    const before = await rowsReadSequentially(drawbridge);
    for (let idleSince = Date.now(); Date.now() < idleSince + OBSERVED_MS;) {
      await (await fetch(`http://127.0.0.1:${worker.port}/metrics`)).text();
      await new Promise((resolve) => setTimeout(resolve, SCRAPE_INTERVAL_MS));
    }
    const after = await rowsReadSequentially(drawbridge);
    return {
      ready,
      firstClosed: (Math.min(...closed) - began) / 1000,
      megabytes: residentMegabytes(worker.pid),
      scanned: (1000 * (after - before)) / OBSERVED_MS,
    };
  } finally {
    await drawbridge.stop();
  }
}

async function overdueOf(org: Organization, before: number): Promise<SeededRule[]> {
  const plan = { firstGroup: GROUPS, groups: GROUPS, sessions: OVERDUE, before, expiresInSeconds: 0 };
  const rules = await seedSessions(org, plan);
  await openInCloud(org, rules);
  return rules;
}

/** The tables that grow with the number of live sessions. */
const LARGE_TABLES = ['sessions', 'resource_ips', 'rules', 'rule_holders'];

async function rowsReadSequentially(drawbridge: Drawbridge): Promise<number> {
  const [row] = await drawbridge.query<{ rows: number }>(
    'SELECT sum(seq_tup_read)::float8 AS rows FROM pg_stat_user_tables WHERE relname = ANY ($1)',
    [LARGE_TABLES],
  );
  return row!.rows;
}

const residentMegabytes = (pid: number): number =>
  Math.round(Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })) / 1024);
