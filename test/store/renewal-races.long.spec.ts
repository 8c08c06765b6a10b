import { EngineStore } from '#engine-store';
import { SessionStore } from '#tenant-store';
import { LedgerRows, type LedgerOrganization } from '../builders/sessions/ledger';
import { ownDatabase } from '../harness/database/own-database';

const RACES = 10_000;
const RENEWERS = 8;
const SWEEPERS = 2;
/** Few, so that a sweep is always at the session whose end has just come. */
const SWEPT_AT_ONCE = 5;
const LEAD_MS = 15;
/** Renewals are sent this long after the end, and arrive a little later. */
const OFFSETS_MS = [-9, -7, -5, -4, -3, -2, -1, 0];
const LEASE_SECONDS = 300;
/** Of each outcome: otherwise nobody has competed. */
const MIN_SHARE = 0.02;

interface Racer {
  readonly id: string;
  /** ms since the epoch, of the database, which is on the same machine */
  readonly endsAt: number;
}

interface Raced {
  readonly id: string;
  readonly renewed: boolean;
  /** whether its end had passed before the renewal was sent */
  readonly wasOver: boolean;
}

interface Left {
  readonly id: string;
  readonly status: string;
  readonly endedReason: string | null;
  readonly isLeased: boolean;
}

describe('Renewals against the end of the lease', () => {
  const sessions = new SessionStore();
  const { sweep: sweeps } = new EngineStore();
  const database = ownDatabase(RENEWERS + SWEEPERS);
  let rows: LedgerRows;
  let org: LedgerOrganization;

  beforeAll(async () => {
    rows = new LedgerRows(database);
    org = await rows.organization();
  });

  /** A live session whose lease is about to end. */
  async function racer(): Promise<Racer> {
    const [made] = await rows.rows<Racer>(
      `INSERT INTO sessions (organization_id, user_id, holder, ipv4_address, status, expires_at, lease_seconds, lease_until)
       VALUES ($1, $2, gen_random_uuid()::text, '203.0.113.1', 'ACTIVE', now() + interval '1 hour', $3,
         clock_timestamp() + make_interval(secs => $4))
       RETURNING id, extract(epoch FROM lease_until)::float8 * 1000 AS "endsAt"`,
      [org.organizationId, org.userId, LEASE_SECONDS, LEAD_MS / 1000],
    );
    return made!;
  }

  /** Renews a session when its end comes. @param offsetMs after its end */
  async function race(offsetMs: number): Promise<Raced> {
    const { id, endsAt } = await racer();
    const pauseMs = endsAt + offsetMs - Date.now();
    if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
    const [before] = await rows.rows<{ wasOver: boolean }>(
      'SELECT clock_timestamp() >= lease_until AS "wasOver" FROM sessions WHERE id = $1',
      [id],
    );
    const renewed = await sessions.renew(database.autocommit, org.organizationId, id, org.userId);
    return { id, renewed, wasOver: before!.wasOver };
  }

  const sweep = async (): Promise<number> =>
    (await database.transaction((tx) => sweeps.expireSessions(tx, SWEPT_AT_ONCE))).count;

  /** Races on several connections while others sweep, then sweeps until nothing more has ended. */
  async function races(): Promise<Raced[]> {
    const raced: Raced[] = [];
    let begun = 0;
    const over = new AbortController();
    const renewer = async (): Promise<void> => {
      while (begun < RACES) raced.push(await race(OFFSETS_MS[(begun += 1) % OFFSETS_MS.length]!));
    };
    const sweeper = async (): Promise<void> => {
      while (!over.signal.aborted) await sweep();
    };
    const swept = Promise.all(Array.from({ length: SWEEPERS }, sweeper));
    await Promise.all(Array.from({ length: RENEWERS }, renewer)).finally(() => over.abort());
    await swept;
    while ((await sweep()) > 0);
    return raced;
  }

  const left = (): Promise<Left[]> =>
    rows.rows<Left>(
      `SELECT id, status, ended_reason AS "endedReason", lease_until > now() AS "isLeased" FROM sessions`,
    );

  it('a session is either renewed before its end and lives, or ends and was not renewed', async () => {
    const raced = await races();
    const after = new Map((await left()).map((session) => [session.id, session]));
    const wrong = raced.flatMap(({ id, renewed, wasOver }) => {
      const { status, endedReason, isLeased } = after.get(id)!;
      const lives = status === 'ACTIVE' && endedReason === null && isLeased;
      const ended = status === 'EXPIRING' && endedReason === 'EXPIRED' && !isLeased;
      if (renewed ? lives && !wasOver : ended) return [];
      return [{ id, renewed, wasOver, status, endedReason, isLeased }];
    });
    expect(wrong).toEqual([]);
    const renewals = raced.filter(({ renewed }) => renewed).length;
    const share = renewals / raced.length;
    process.stderr.write(`\nRenewal races: ${raced.length}, ${renewals} renewed\n`);
    expect(share).toBeGreaterThan(MIN_SHARE);
    expect(share).toBeLessThan(1 - MIN_SHARE);
  });
});
