import { type AccessFilter, type AccessRow, LedgerQueries } from '#engine-store/port';
import { ownDatabase } from '../../harness/database/own-database';
import { LedgerRows, type LedgerOrganization } from '../sessions/ledger';

/** An hour of the day on which all times of these tests are. */
export const hour = (hours: number): Date => new Date(Date.UTC(2026, 0, 10) + hours * 3_600_000);
export const hours = (...times: (number | null)[]): (Date | null)[] =>
  times.map((time) => (time === null ? null : hour(time)));

/** The times of a row, in hours of that day. */
export const timesOf = ({ possibleFrom, certainFrom, certainUntil, possibleUntil }: AccessRow): unknown[] =>
  [possibleFrom, certainFrom, certainUntil, possibleUntil].map(
    (time) => time && (time.getTime() - hour(0).getTime()) / 3_600_000,
  );

/** Access reports of an organization with one resource, beside another organization; made in a `describe`, whose tests share its database. */
export class AccessReportBench {
  private readonly database = ownDatabase(2);
  readonly ledger = new LedgerRows(this.database);
  org!: LedgerOrganization;
  other!: LedgerOrganization;
  targetId = '';
  resourceId = '';
  sessionId = '';
  private readonly queries = new LedgerQueries();

  /** Makes new organizations, a new target and a new session. */
  async renew(): Promise<void> {
    [this.org, this.other] = [await this.ledger.organization(), await this.ledger.organization()];
    this.targetId = await this.ledger.target();
    this.resourceId = await this.ledger.resource(this.org, this.targetId);
    this.sessionId = await this.ledger.session(this.org);
  }

  async report(
    from: number,
    to: number,
    filter: AccessFilter = { by: 'resource', resourceId: this.resourceId },
    by = this.org,
  ): Promise<AccessRow[]> {
    const rows = await this.database.transaction((tx) =>
      this.queries.access(tx, by.organizationId, filter, { from: hour(from), to: hour(to) }),
    );
    if (rows === 'too-many') throw new Error('too many');
    return rows;
  }

  at(time: number): Promise<AccessRow[]> {
    return this.report(time, time);
  }

  /** Records the end of an interval of the organization's session. */
  closed(times: (Date | null)[], end: number, more: object = {}): Promise<void> {
    return this.ledger.event({
      kind: 'CLOSED',
      targetId: this.targetId,
      owner: this.org,
      resourceId: this.resourceId,
      sessionId: this.sessionId,
      cause: 'SESSION_EXPIRED',
      at: hour(end),
      times,
      ...more,
    });
  }
}
