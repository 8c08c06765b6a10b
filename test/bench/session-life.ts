import { setTimeout as pause } from 'node:timers/promises';
import { organization, sshTo, type Organization } from '../builders/accounts/organization';
import { Drawbridge } from '../harness/product/drawbridge';
import { until } from '../harness/until';
import type { BenchPostgres, LoggedLine } from './bench-postgres';
import { figure, type Figure } from './figure';
import { freshAddress, startSessions } from './load';
import { apiKeyHeader, sessionsUrl } from './request-rate';
import { commitsIn, statementsDuring } from './statement-log';

const SESSIONS = 500;
const CONNECTIONS = 16;
const TARGETS = [10, 200];
const QUIET_MS = 3000;
const MAX_STATEMENTS = 10;
const MAX_COMMITS = 4;
const MAX_WAL_KB = 8;
const WITHIN_MS = 120_000;

/** generous call limits: what is counted is ours */
const SIMULATOR = { SIMULATOR_WRITE_BURST: '5000', SIMULATOR_READ_BURST: '5000' };

/**
 * What one session costs the database from its start to the observed end of its rule: statements and commits of all
 * processes, and write-ahead log. 500 sessions are started one after the other's answer, then stopped, each on one of ten
 * or 200 targets in turn.
 */
export async function sessionLife(postgres: BenchPostgres): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const targets of TARGETS) figures.push(...(await livesOn(postgres, targets)));
  return figures;
}

async function livesOn(postgres: BenchPostgres, targets: number): Promise<Figure[]> {
  const drawbridge = await Drawbridge.start({
    worker: false,
    api: { NODE_ENV: 'production' },
    simulator: { ...SIMULATOR, SIMULATOR_GROUPS: String(targets), SIMULATOR_RULES_PER_GROUP: '1000' },
  });
  try {
    await drawbridge.startWorker();
    const owner = await organization(drawbridge, sshTo(targets));
    const headers = await apiKeyHeader(owner);
    // the first write of a page after a checkpoint writes the whole page: those are not counted
    await drawbridge.query('CHECKPOINT');
    await lives(owner, headers, Math.max(targets, SESSIONS));
    await pause(QUIET_MS);
    const before = await walPosition(drawbridge);
    const lines = await statementsDuring(postgres, drawbridge, () => lives(owner, headers, SESSIONS));
    const walKb = ((await walPosition(drawbridge)) - before) / 1024 / SESSIONS;
    return figuresOf(targets, lines, walKb);
  } finally {
    await drawbridge.stop();
  }
}

function figuresOf(targets: number, lines: readonly LoggedLine[], walKb: number): Figure[] {
  const extra = targets === TARGETS[0] ? 0 : 2;
  const by = (application: string): number =>
    lines.filter((line) => line.application === application).length / SESSIONS;
  return [
    figure(`a session's life, ${targets} targets: statements`, '', [lines.length / SESSIONS], {
      atMost: MAX_STATEMENTS + extra,
    }),
    ...['drawbridge-api', 'drawbridge-worker', 'drawbridge-queue'].map((application) =>
      figure(`  of them by ${application}`, '', [by(application)]),
    ),
    figure(`a session's life, ${targets} targets: commits`, '', [commitsIn(lines) / SESSIONS], {
      atMost: MAX_COMMITS,
    }),
    figure(`a session's life, ${targets} targets: WAL`, 'kB', [walKb], { atMost: MAX_WAL_KB }),
  ];
}

/** Starts sessions on the resources in turn, waits until all are ACTIVE, stops them, and waits until all are closed. */
async function lives(owner: Organization, headers: Record<string, string>, amount: number): Promise<void> {
  const { drawbridge } = owner;
  let turn = 0;
  const before = await ids(drawbridge, 'CANCELLED');
  await startSessions({
    url: sessionsUrl(drawbridge as Drawbridge),
    headers,
    connections: CONNECTIONS,
    amount,
    body: () => ({
      ipv4Address: freshAddress(),
      resourceIds: [owner.resourceIds[turn++ % owner.resourceIds.length]],
    }),
  });
  const active = await until(
    'every session is ACTIVE',
    async () => {
      const found = await ids(drawbridge, 'ACTIVE');
      return found.length === amount && found;
    },
    WITHIN_MS,
  );
  const client = drawbridge.api.as({ apiKey: headers['x-api-key']! });
  const stop = async (): Promise<void> => {
    for (let id = active.pop(); id !== undefined; id = active.pop())
      await client.posted(`/sessions/${id}/stop`);
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, stop));
  await until(
    'every session is CANCELLED',
    async () => (await ids(drawbridge, 'CANCELLED')).length === before.length + amount,
    WITHIN_MS,
  );
}

const ids = async (drawbridge: Pick<Drawbridge, 'query'>, status: string): Promise<string[]> => {
  const rows = await drawbridge.query<{ id: string }>('SELECT id FROM sessions WHERE status = $1', [status]);
  return rows.map(({ id }) => id);
};

async function walPosition(drawbridge: Drawbridge): Promise<number> {
  const [row] = await drawbridge.query<{ bytes: number }>(
    `SELECT (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::float8 AS bytes`,
  );
  return row!.bytes;
}
