import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { pino } from 'pino';
import { Database, MonthlyPartitions } from '#entities';
import { asOrganizationId } from '#rules';
import { AuditChainStore, AuditExportStore, SessionRetentionStore } from '#tenant-store';
import { AuditExport } from '../../apps/worker/src/audit/audit-export';
import { AuditSealer } from '../../apps/worker/src/audit/audit-sealer';
import { ExportFolder } from '../../apps/worker/src/audit/export-folder';
import { auditMonths } from '../builders/audit/audit-months';
import { Drawbridge } from '../harness/product/drawbridge';
import type { BenchPostgres } from './bench-postgres';
import { figure, quantile, type Figure } from './figure';
import { MAX_RATIO, SCALE, scaled, startSide, type Side } from './history-scale';
import { seedLists, vacuum } from './history-seeds';
import { LockProbe } from './lock-probe';
import { freshAddress } from './load';

/** of sessions, their addresses and their audit records together */
const ROWS = scaled(10_000_000);
const ROWS_PER_SESSION = 5;
const SESSIONS = Math.round(ROWS / ROWS_PER_SESSION);
const MINUTES_PER_MONTH = 28 * 24 * 60;
const ROUNDS = SCALE < 0.1 ? 100 : 400;
const MAX_LOCK_MS = 50;
/** sessions to delete, and with them a tenth of the history at most */
const DELETED_SESSIONS = Math.min(20_000, Math.round(SESSIONS / 10));

/** Requests of users and CI jobs; the last one ends what the first one began. Lists have a measurement of their own. */
const REQUESTS = ['start', 'read', 'stop'] as const;
type Times = Record<(typeof REQUESTS)[number], number[]>;

/**
 * The main requests with and without millions of rows of history, partitioned as after years of running; and how long
 * retention keeps the trail's writers and readers waiting.
 */
export async function retention(_postgres: BenchPostgres): Promise<Figure[]> {
  const sides: Side[] = [];
  try {
    const [quiet, seeded] = [await startSide(sides), await startSide(sides)];
    await seedHistory(seeded);
    for (const { drawbridge } of sides) await vacuum(drawbridge);
    // statements are planned once for each connection
    for (const side of sides) await measure(side, 20);
    const times = await interleaved(quiet, seeded);
    return [...ratios(times), ...(await retentionFigures(seeded))];
  } finally {
    for (const { drawbridge } of sides) await drawbridge.stop();
  }
}

async function seedHistory(side: Side): Promise<void> {
  const owner = new Client({ connectionString: side.drawbridge.ownerUrl });
  await owner.connect();
  await auditMonths(owner, Math.ceil(SESSIONS / MINUTES_PER_MONTH) + 1);
  await owner.end();
  await seedLists(side, { count: SESSIONS, rare: 4, rareUserId: side.org.adminId });
}

/** Alternates between the sides: other load on the machine affects both. */
async function interleaved(quiet: Side, seeded: Side): Promise<[Times, Times]> {
  const times = [emptyTimes(), emptyTimes()] as [Times, Times];
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [index, side] of [quiet, seeded].entries()) {
      const measured = await measure(side, 1);
      for (const name of REQUESTS) times[index]![name].push(...measured[name]);
    }
  }
  return times;
}

const emptyTimes = (): Times => Object.fromEntries(REQUESTS.map((name) => [name, [] as number[]])) as Times;

async function measure({ org: { admin } }: Side, rounds: number): Promise<Times> {
  const times = emptyTimes();
  const timed = async <Body>(name: keyof Times, request: () => Promise<Body>): Promise<Body> => {
    const began = performance.now();
    const body = await request();
    times[name].push(performance.now() - began);
    return body;
  };
  const read = (path: string): Promise<unknown> => admin.expect(200, admin.get(path));
  for (let round = 0; round < rounds; round += 1) {
    const { id } = await timed('start', () =>
      admin.expect(200, admin.post<{ id: string }>('/sessions', { ipv4Address: freshAddress() })),
    );
    await timed('read', () => read(`/sessions/${id}`));
    await timed('stop', () => admin.expect(200, admin.post(`/sessions/${id}/stop`)));
  }
  return times;
}

function ratios([without, withHistory]: [Times, Times]): Figure[] {
  const times = (name: keyof Times, share: number): number[] => [
    quantile(withHistory[name], share) / quantile(without[name], share),
  ];
  return REQUESTS.flatMap((name) => [
    figure(`${name} p99, no history`, 'ms', without[name], null, 0.99),
    figure(`${name} p99, ${ROWS.toLocaleString('en')} rows`, 'ms', withHistory[name], null, 0.99),
    figure(`${name} p99: times`, '', times(name, 0.99), { atMost: MAX_RATIO }),
    // other load on the machine lengthens the slowest requests of either side
    figure(`${name} p50: times`, '', times(name, 0.5), { atMost: MAX_RATIO }),
  ]);
}

/** Deletes sessions, creates partitions, and exports and drops the oldest months, beside writers and readers. */
async function retentionFigures({ drawbridge, org }: Side): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'drawbridge-retention-'));
  const settings = {
    url: drawbridge.ownerUrl,
    applicationName: 'retention',
    poolSize: 2,
    hasTimeouts: false,
  };
  const database = await new Database(settings).connect();
  const probe = await LockProbe.start(drawbridge, org.organizationId);
  try {
    const figures: Figure[] = [];
    const beside = async (label: string, work: () => Promise<unknown>): Promise<void> => {
      const began = performance.now();
      const { waits, writes, reads } = await probe.beside(work);
      const seconds = ((performance.now() - began) / 1000).toFixed(1);
      figures.push(
        figure(`${label} (${seconds} s): longest wait for a lock`, 'ms', [waits], { atMost: MAX_LOCK_MS }),
        figure(`${label}: longest write of a record`, 'ms', [writes]),
        figure(`${label}: longest read of a list`, 'ms', [reads]),
      );
    };
    await beside('no retention', () => new Promise((resolve) => setTimeout(resolve, 10_000)));
    await sealOldestMonths(drawbridge, database);
    const organizationId = asOrganizationId(org.organizationId);
    const [oldest] = await drawbridge.query<{ days: number }>(
      `SELECT floor(extract(epoch FROM now() - created_at) / 86400)::int - 2 AS days FROM sessions
       ORDER BY created_at OFFSET ${DELETED_SESSIONS} LIMIT 1`,
    );
    await beside(`delete ${DELETED_SESSIONS} sessions`, () =>
      new SessionRetentionStore().deleteOld(database, organizationId, oldest!.days, 250),
    );
    await beside('create partitions', () =>
      new MonthlyPartitions(database, 'audit_records').createMissing(9),
    );
    const months = Math.ceil(SESSIONS / MINUTES_PER_MONTH);
    await beside('export and drop the oldest months', async () => {
      const outcomes: string[] = [];
      const run = new AuditExport(database, new AuditExportStore(), new ExportFolder(folder)).run(
        Math.max(1, months - 5),
        true,
      );
      for await (const { month, outcome, ranges } of run)
        outcomes.push(`${month} ${outcome} ${ranges.map((range) => range.lastPosition).join(' ')}`);
      process.stderr.write(`${outcomes.join('\n')}\n`);
    });
    return figures;
  } finally {
    await probe.stop();
    await database.close();
    rmSync(folder, { recursive: true });
  }
}

/** Seals the oldest records, some months of them: to seal millions takes longer than the measurement. */
async function sealOldestMonths(drawbridge: Drawbridge, database: Database): Promise<void> {
  const sealer = new AuditSealer(database, new AuditChainStore(), pino({ level: 'silent' }));
  const limit = Math.min(SESSIONS * 3, 400_000);
  for (let sealed = 0; sealed < limit;) sealed += (await sealer.sealNext(5000)) || limit;
  await drawbridge.query('VACUUM ANALYZE audit_seals');
}
