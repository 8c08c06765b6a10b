import { Database } from '#entities';
import { SweepStore } from '#engine-store';
import { group, organization, type Organization } from '../builders/organization';
import { cloneDatabase } from '../harness/database';
import { Drawbridge } from '../harness/drawbridge';
import { until } from '../harness/until';
import type { BenchPostgres, LoggedLine } from './bench-postgres';
import { figure, quantile, type Figure } from './figure';
import {
  seedEndedSessions,
  seedHoldersOfEnded,
  seedPastAddresses,
  seedSweep,
  vacuum,
  CROWDED_ADDRESS,
} from './history-seeds';
import { isQuery } from './request-cost';

/** 1: all of it. A smoke test runs a hundredth. */
const SCALE = Number(process.env['HISTORY_SCALE'] ?? 1);
const scaled = (count: number): number => Math.max(1, Math.round(count * SCALE));

const ENDED_SESSIONS = scaled(1_000_000);
const PAST_ADDRESSES = scaled(100_000);
/** before this release each ended session kept its holder: enough of them to show that they cost */
const ENDED_HOLDERS = scaled(100_000);
const ROUNDS = SCALE < 1 ? 2 : 12;
const HOLDER_ROUNDS = SCALE < 1 ? 1 : 4;
const MAX_RATIO = 1.2;
/** statements that differ by less differ by the machine's noise alone */
const NOISE_MS = 1;
const RECONCILE_SECONDS = 10;
/** each periodic statement of a worker runs within it, those of a minute included */
const WATCHED_MS = SCALE < 1 ? 5000 : 65_000;
/** what is asked hourly is asked at the start: several starts tell it from the noise */
const STARTS = SCALE < 1 ? 1 : 4;
/** longer than from one comparison to the next */
const START_MS = SCALE < 1 ? 5000 : 12_000;
const IDLE_MS = SCALE < 1 ? 5000 : 20_000;
const SWEEPS = 200;
/** the first ones read what is on disk, and plan */
const FIRST_SWEEPS = 20;
/** a query that takes seconds is known well enough after fewer */
const MAX_SWEEPING_MS = 60_000;
/** what a worker with 40 slots asks for */
const [PER_ORGANIZATION, TARGETS_BATCH_SIZE] = [40, 120];

/** One product, with or without a history. Each has a database of its own on the same server. */
interface Side {
  readonly drawbridge: Drawbridge;
  readonly org: Organization;
}

/** One of two resources, each on a target of its own. */
interface Place {
  readonly words: string;
  readonly resource: number;
  /** what the next session is for; the address of the ended ones where there is one */
  readonly address: (round: number) => string;
}

const CROWDED: Place = {
  words: `${ENDED_SESSIONS.toLocaleString('en')} ended sessions of one address`,
  resource: 0,
  address: () => CROWDED_ADDRESS,
};
const SPREAD: Place = {
  words: `${PAST_ADDRESSES.toLocaleString('en')} past addresses`,
  resource: 1,
  address: (round) => `203.0.113.${round + 1}`,
};

interface Times {
  readonly open: number[];
  readonly close: number[];
  readonly reconcile: number[];
}

/** What a session, a comparison and an idle worker cost with a long history, against none. */
export async function history(postgres: BenchPostgres): Promise<Figure[]> {
  return [...(await sweepFigures()), ...(await idleFigures(postgres)), ...(await productFigures(postgres))];
}

async function productFigures(postgres: BenchPostgres): Promise<Figure[]> {
  const sides: Side[] = [];
  try {
    const [quiet, seeded] = [await side(sides), await side(sides)];
    await seedEndedSessions(seeded, ENDED_SESSIONS);
    await seedPastAddresses(seeded, PAST_ADDRESSES);
    for (const { drawbridge } of sides) await vacuum(drawbridge);
    const statements = await periodicStatements(postgres, sides);
    const figures: Figure[] = [];
    for (const place of [CROWDED, SPREAD]) {
      const [without, withHistory] = await interleaved(quiet, seeded, place, ROUNDS);
      figures.push(...ratios(place.words, without, withHistory));
    }
    figures.push(...statementFigures(statements, quiet, seeded));
    await seedHoldersOfEnded(seeded, ENDED_HOLDERS);
    const [without, withHolders] = await interleaved(quiet, seeded, CROWDED, HOLDER_ROUNDS);
    const words = `with ${ENDED_HOLDERS.toLocaleString('en')} holders of ended sessions left, as before`;
    figures.push(
      figure(`${words}: close, times`, '', [quantile(withHolders.close, 0.5) / quantile(without.close, 0.5)]),
    );
    return figures;
  } finally {
    for (const { drawbridge } of sides) await drawbridge.stop();
  }
}

async function side(sides: Side[]): Promise<Side> {
  const drawbridge = await Drawbridge.start({ worker: false });
  const org = await organization(
    drawbridge,
    [0, 1].map((index) => ({ group: group(index), config: { port: 22 } })),
  );
  sides.push({ drawbridge, org });
  return sides.at(-1)!;
}

/** One round here, one there: whatever else the machine does meets both. */
async function interleaved(quiet: Side, seeded: Side, place: Place, rounds: number): Promise<[Times, Times]> {
  const times: [Times, Times] = [
    { open: [], close: [], reconcile: [] },
    { open: [], close: [], reconcile: [] },
  ];
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, one] of [quiet, seeded].entries()) {
      const { open, close } = await openAndClose(one, place, round);
      times[index]!.open.push(open);
      times[index]!.close.push(close);
      times[index]!.reconcile.push(await reconcile(one, place));
    }
  }
  return times;
}

const nowMs = (): number => performance.timeOrigin + performance.now();

async function openAndClose(
  { drawbridge, org }: Side,
  place: Place,
  round: number,
): Promise<{ open: number; close: number }> {
  const resourceIds = [org.resourceIds[place.resource]!];
  const sentAt = nowMs();
  const { id } = await org.started({ ipv4Address: place.address(round), resourceIds });
  const appliedAt = await until(
    'the session is ACTIVE',
    async () => {
      const [row] = await drawbridge.query<{ at: number }>(
        `SELECT extract(epoch FROM ip.applied_at)::float8 * 1000 AS at
         FROM sessions s JOIN resource_ips ip ON ip.session_id = s.id WHERE s.id = $1 AND s.status = 'ACTIVE'`,
        [id],
      );
      return row?.at;
    },
    120_000,
  );
  const stoppedAt = nowMs();
  await org.admin.expect(200, org.admin.post(`/sessions/${id}/stop`));
  const closedAt = await until(
    'the rule is closed',
    async () => {
      const timeline = await drawbridge.cloud.timeline(Math.floor(stoppedAt * 1000));
      return timeline.find(({ event }) => event === 'closed')?.at;
    },
    120_000,
  );
  await until(
    'the session is CANCELLED',
    async () =>
      (await drawbridge.query(`SELECT 1 FROM sessions WHERE id = $1 AND status = 'CANCELLED'`, [id])).length >
      0,
    120_000,
  );
  return { open: appliedAt - sentAt, close: closedAt / 1000 - stoppedAt };
}

/** From the request to its outcome. */
async function reconcile({ drawbridge, org }: Side, place: Place): Promise<number> {
  const resourceId = org.resourceIds[place.resource]!;
  const sentAt = nowMs();
  await org.admin.expect(200, org.admin.post(`/resources/${resourceId}/reconcile`));
  const doneAt = await until(
    'the comparison is done',
    async () => {
      const [row] = await drawbridge.query<{ at: number | null }>(
        `SELECT extract(epoch FROM max(created_at))::float8 * 1000 AS at FROM resource_health_events
         WHERE resource_id = $1 AND event_type = 'RECONCILE_OK'`,
        [resourceId],
      );
      return row?.at && row.at > sentAt ? row.at : null;
    },
    120_000,
  );
  return doneAt - sentAt;
}

function ratios(words: string, without: Times, withHistory: Times): Figure[] {
  return (['open', 'close', 'reconcile'] as const).flatMap((what) => [
    figure(`${what}, no history beside ${words}`, 'ms', without[what]),
    figure(`${what}, ${words}`, 'ms', withHistory[what]),
    figure(
      `${what}, ${words}: times`,
      '',
      [quantile(withHistory[what], 0.5) / quantile(without[what], 0.5)],
      { atMost: MAX_RATIO },
    ),
  ]);
}

/** Of one statement, each time it ran: planning and running, milliseconds. */
type Statements = Map<string, number[]>;

const databaseOf = (drawbridge: Drawbridge): string => new URL(drawbridge.databaseUrl).pathname.slice(1);

/** Starts a worker on each side, several times, and logs what they ask while there is nothing to do. */
async function periodicStatements(
  postgres: BenchPostgres,
  sides: readonly Side[],
): Promise<ReadonlyMap<Side, Statements>> {
  const startWorkers = async (): Promise<void> => {
    for (let starts = 0; starts < STARTS; starts += 1) {
      if (starts > 0) {
        await new Promise((resolve) => setTimeout(resolve, START_MS));
        await Promise.all(sides.map(({ drawbridge }) => drawbridge.worker.stop()));
      }
      // one after the other, each first in turn: what a process that starts costs the machine falls on both
      for (const { drawbridge } of starts % 2 === 0 ? sides : sides.toReversed()) {
        await drawbridge.startWorker({ RECONCILE_SECONDS: String(RECONCILE_SECONDS) });
      }
    }
  };
  const lines = await loggedFor(postgres, sides[0]!.drawbridge, WATCHED_MS, startWorkers);
  return new Map(
    sides.map((one) => [
      one,
      statementsOf(lines.filter(({ database }) => database === databaseOf(one.drawbridge))),
    ]),
  );
}

async function loggedFor(
  postgres: BenchPostgres,
  drawbridge: Drawbridge,
  milliseconds: number,
  begin: () => Promise<unknown>,
): Promise<readonly LoggedLine[]> {
  const lines = postgres.keepLog();
  await drawbridge.query('ALTER SYSTEM SET log_min_duration_statement = 0');
  await drawbridge.query('SELECT pg_reload_conf()');
  try {
    await begin();
    await new Promise((resolve) => setTimeout(resolve, milliseconds));
  } finally {
    await drawbridge.query('ALTER SYSTEM RESET log_min_duration_statement');
    await drawbridge.query('SELECT pg_reload_conf()');
    postgres.dropLog();
  }
  return lines.filter(({ application }) => application.startsWith('drawbridge-worker'));
}

/** PostgreSQL logs parsing, binding and running of a statement as entries of their own, in this order. */
function statementsOf(lines: readonly LoggedLine[]): Statements {
  const statements: Statements = new Map();
  const before = new Map<string, number>();
  for (const { text } of lines) {
    const [, ms, kind, statement] =
      /^LOG: +duration: (\S+) ms +(parse|bind|execute|statement)[^:]*: ([\s\S]*)/.exec(text) ?? [];
    if (ms === undefined || kind === undefined || statement === undefined) continue;
    const name = statement.replaceAll(/\s+/g, ' ').trim();
    if (/^(BEGIN|START|COMMIT|ROLLBACK|SET|SHOW|SELECT version)/i.test(name)) continue;
    if (kind === 'parse' || kind === 'bind') {
      before.set(name, (before.get(name) ?? 0) + Number(ms));
      continue;
    }
    const all = statements.get(name) ?? [];
    all.push(Number(ms) + (before.get(name) ?? 0));
    before.delete(name);
    statements.set(name, all);
  }
  return statements;
}

/** The sum of what every statement takes, and each that takes noticeably longer. */
function statementFigures(statements: ReadonlyMap<Side, Statements>, quiet: Side, seeded: Side): Figure[] {
  const [without, withHistory] = [statements.get(quiet)!, statements.get(seeded)!];
  const both = [...without.keys()].filter((name) => withHistory.has(name));
  // the least: what it takes when nothing else goes on
  const of = (one: Statements, name: string): number => Math.min(...one.get(name)!);
  const sum = (one: Statements): number => both.reduce((total, name) => total + of(one, name), 0);
  const slower = both.filter((name) => {
    const [before, after] = [of(without, name), of(withHistory, name)];
    return after > before + NOISE_MS && after > MAX_RATIO * before;
  });
  return [
    figure('different periodic statements of a worker', '', [both.length]),
    figure('periodic statements, each once, no history', 'ms', [sum(without)]),
    figure('periodic statements, each once, with history: times', '', [sum(withHistory) / sum(without)], {
      atMost: MAX_RATIO,
    }),
    figure('periodic statements that take longer with history', '', [slower.length], { atMost: 0 }),
    ...slower.map((name) =>
      figure(`  was ${of(without, name).toFixed(2)} ms: ${name.slice(0, 100)}`, 'ms', [
        of(withHistory, name),
      ]),
    ),
  ];
}

/** What one worker asks when there is nothing to do, what one more adds, and by arithmetic fifty. */
async function idleFigures(postgres: BenchPostgres): Promise<Figure[]> {
  const drawbridge = await Drawbridge.start({ worker: false });
  try {
    await organization(drawbridge, [{ group: group(0), config: { port: 22 } }]);
    const perSecond = async (): Promise<number> => {
      // what is done once at the start is no part of it
      const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5000));
      await drawbridge.startWorker();
      await settled();
      const lines = await loggedFor(postgres, drawbridge, IDLE_MS, () => Promise.resolve());
      return lines.filter(isQuery).length / (IDLE_MS / 1000);
    };
    const one = await perSecond();
    const another = (await perSecond()) - one;
    return [
      figure('idle statements, one worker', '/s', [one]),
      figure('idle statements, each further worker', '/s', [another]),
      figure('idle statements, 50 workers (arithmetic)', '/s', [one + 49 * another]),
    ];
  } finally {
    await drawbridge.stop();
  }
}

/** What the sweep asks when 200,000 of a million rules on 100,000 targets are due. */
async function sweepFigures(): Promise<Figure[]> {
  const clone = await cloneDatabase();
  const database = await new Database({
    url: clone.url,
    applicationName: 'history-bench',
    poolSize: 2,
  }).connect();
  try {
    const counts = {
      targets: scaled(100_000),
      rules: scaled(1_000_000),
      due: scaled(200_000),
      organizations: scaled(1000),
    };
    await seedSweep(clone.url, counts);
    const sweeps = new SweepStore();
    const times: number[] = [];
    for (let sweep = 0; sweep < FIRST_SWEEPS; sweep += 1)
      await sweeps.waitingTargets(database.autocommit, PER_ORGANIZATION, TARGETS_BATCH_SIZE);
    const first = performance.now();
    while (times.length < SWEEPS && performance.now() < first + MAX_SWEEPING_MS) {
      const began = performance.now();
      const found = await sweeps.waitingTargets(database.autocommit, PER_ORGANIZATION, TARGETS_BATCH_SIZE);
      times.push(performance.now() - began);
      if (found.length === 0) throw new Error('The sweep found nothing to do');
    }
    const words = `${counts.due.toLocaleString('en')} rules due of ${counts.rules.toLocaleString('en')}`;
    return [figure(`sweep query, ${words}`, 'ms', times, { atMost: 10 })];
  } finally {
    await database.close();
    await clone.drop();
  }
}
