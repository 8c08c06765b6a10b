import { group, organization } from '../../builders/accounts/organization';
import { Drawbridge } from '../../harness/product/drawbridge';
import { until } from '../../harness/until';

const DAY_MS = 24 * 3_600_000;

/**
 * Processes and database use a time zone with daylight saving time, and the search path replaces PostgreSQL's now() by
 * `moved.now()`. (Leap seconds do not exist in PostgreSQL and Node: both count Unix time.)
 */
describe('G. A session of 24 hours lasts 24 hours across calendar changes', () => {
  const drawbridge = Drawbridge.own({ api: { TZ: 'Europe/Berlin' }, worker: false });

  beforeAll(async () => {
    await drawbridge.query('CREATE SCHEMA moved');
    await drawbridge.query('GRANT USAGE ON SCHEMA moved TO PUBLIC');
    await drawbridge.query(`CREATE TABLE moved.clock AS SELECT 0::float8 AS seconds`);
    for (const [name, volatility] of [
      ['now', 'STABLE'],
      ['clock_timestamp', 'VOLATILE'],
    ]) {
      await drawbridge.query(
        `CREATE FUNCTION moved.${name}() RETURNS timestamptz LANGUAGE sql ${volatility} SECURITY DEFINER
         AS 'SELECT pg_catalog.${name}() + make_interval(secs => seconds) FROM moved.clock'`,
      );
    }
    await drawbridge.query(`DO $$ DECLARE c record; BEGIN
      FOR c IN SELECT table_name, column_name FROM information_schema.columns
        WHERE table_schema = 'public' AND column_default = 'now()' LOOP
        EXECUTE format('ALTER TABLE public.%I ALTER COLUMN %I SET DEFAULT moved.now()', c.table_name, c.column_name);
      END LOOP;
      EXECUTE format('ALTER DATABASE %I SET search_path = moved, pg_catalog, public', current_database());
      EXECUTE format('ALTER DATABASE %I SET timezone = ''Europe/Berlin''', current_database());
    END $$`);
    await drawbridge.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND pid <> pg_backend_pid()`,
    );
    await until('the API has connected again', async () => {
      const ready = await drawbridge.api.get<{ status: string }>('/health/ready');
      // no worker runs yet: it is DEGRADED
      return ready.status === 200;
    });
    await drawbridge.startWorker({ TZ: 'Europe/Berlin' });
  });

  /** Sets the clock of the database. @returns its difference to the real time, ms */
  const moveTo = async (moment: number): Promise<number> => {
    const rows = await drawbridge.query<{ shift: number }>(
      `UPDATE moved.clock SET seconds = $1::float8 / 1000 - extract(epoch FROM pg_catalog.now())::float8
       RETURNING seconds * 1000 AS shift`,
      [moment],
    );
    return rows[0]!.shift;
  };

  it.each([
    ['end of the year', '2026-12-31T12:00:00Z', 0],
    ['start of daylight saving time', '2027-03-27T12:00:00Z', 1],
    ['end of daylight saving time', '2027-10-30T12:00:00Z', 2],
    ['29 February', '2028-02-28T12:00:00Z', 3],
  ])('%s [G4]', async (_what, moment, index) => {
    await moveTo(Date.parse(moment));
    const org = await organization(drawbridge, [{ group: group(index), config: { port: 22 } }]);
    const session = await org.started({ ipv4Address: '203.0.113.1', durationHours: 24 });
    const ends = Date.parse(session.expiresAt);
    expect(Math.abs(Date.parse(session.startedAt) - Date.parse(moment))).toBeLessThan(60_000);
    expect(ends - Date.parse(session.startedAt)).toBe(DAY_MS);
    await org.reaches(session.id, 'ACTIVE');
    const shift = await moveTo(ends - 2500);
    await org.reaches(session.id, 'EXPIRED');
    const timeline = await drawbridge.cloud.timeline();
    const closed = timeline.find((entry) => entry.target === group(index) && entry.event === 'closed');
    // an hour too late would be no EXPIRED yet
    expect(closed!.at / 1000 + shift).toBeGreaterThanOrEqual(ends);
  });
});
