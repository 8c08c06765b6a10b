import { type OrganizationId, rangesAround, withCertainty } from '#rules';
import type { Slice, Sliced, TenantStore, Tx } from '#entities';
import {
  asShown,
  newestFirst,
  sinceCreation,
  withoutCovered,
  type AccessRow,
  type AccessWindow,
  type FoundRow,
  type KnownTarget,
  type SessionGrounds,
} from './access-rows';
import {
  closedIntervals,
  liveHolders,
  liveUnmanaged,
  liveWithoutHolder,
  LONG_HOURS,
  MAX_LEDGER_ITEMS,
  type WindowSql,
} from './access-sql';
import { eventCount, eventPage, Parameters, type RuleEventRow } from './ledger-events';

export { MAX_LEDGER_ITEMS };

const HOUR_MS = 3_600_000;

/** Inclusive bounds; null: unbounded. */
export interface LedgerRange {
  readonly from: Date | null;
  readonly to: Date | null;
}

/** Subject of a report. `address`: a canonical CIDR; rules for a range that contains it let it in, too. */
export type AccessFilter =
  | { readonly by: 'resource'; readonly resourceId: string }
  | { readonly by: 'user'; readonly userId: string }
  | { readonly by: 'address'; readonly address: string }
  | { readonly by: 'organization' };

/**
 * Queries of an organization on the ledger and the live state. Rows of other organizations on a shared target are reduced to
 * `OTHER`, and a target is read only if a resource of the organization is write-verified there.
 */
export class LedgerQueries implements TenantStore<LedgerQueries> {
  /**
   * Events of a session's rules, newest first. Cost: the rows up to the end of the page, plus a count of at most
   * `MAX_LEDGER_ITEMS` index entries. Partitions older than the session are not read.
   */
  sessionEvents(
    tx: Tx,
    organization: OrganizationId,
    session: { readonly id: string; readonly createdAt: Date },
    range: LedgerRange,
    slice: Slice,
  ): Promise<Sliced<RuleEventRow>> {
    const given = new Parameters();
    const own = given.add(organization);
    const condition = `e.organization_id = ${own} AND e.session_id = ${given.add(session.id)}
      AND ${since(given, session.createdAt)} ${within(given, range)}`;
    return this.events(tx, own, [condition], given, slice);
  }

  /**
   * Events of a resource's rules, and of rules without a holder on its current target, newest first. Cost: that of
   * `sessionEvents`, for both parts.
   */
  async resourceEvents(
    tx: Tx,
    organization: OrganizationId,
    resource: { readonly id: string; readonly createdAt: Date },
    range: LedgerRange,
    slice: Slice,
  ): Promise<Sliced<RuleEventRow>> {
    const [target] = await this.listTargets(tx, organization, resource.id);
    const given = new Parameters();
    const own = given.add(organization);
    const times = `AND ${since(given, resource.createdAt)} ${within(given, range)}`;
    const parts = [`e.organization_id = ${own} AND e.resource_id = ${given.add(resource.id)} ${times}`];
    if (target) {
      const created = given.add(resource.createdAt);
      parts.push(
        `e.organization_id IS NULL AND e.target_id = ${given.add(target.targetId)} AND e.at >= ${created} ${times}`,
      );
    }
    return this.events(tx, own, parts, given, slice);
  }

  private async events(
    tx: Tx,
    organization: string,
    parts: readonly string[],
    given: Parameters,
    { page, size }: Slice,
  ): Promise<Sliced<RuleEventRow>> {
    const [counted] = await tx.query<{ total: number }[]>(eventCount(parts, MAX_LEDGER_ITEMS), given.values);
    const rows = await tx.query<RuleEventRow[]>(
      eventPage(organization, parts, { offset: page * size, limit: size }),
      given.values,
    );
    return { rows, total: counted!.total };
  }

  /**
   * Access intervals, newest first. Call it as the first statement of its own transaction: it reads one snapshot. Cost: the
   * ends in the window and two days after it, the long intervals of the organization and of its targets, and the live rules
   * of both.
   * @returns `too-many` above `MAX_LEDGER_ITEMS`
   */
  async access(
    tx: Tx,
    organization: OrganizationId,
    filter: AccessFilter,
    window: AccessWindow,
  ): Promise<AccessRow[] | 'too-many'> {
    await tx.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY');
    const own = await this.ofHolders(tx, organization, filter, window);
    const others = await this.ofTargets(tx, organization, filter, window);
    if ([...own, ...others].some((rows) => rows.length > MAX_LEDGER_ITEMS)) return 'too-many';
    const ownRows = own.flat().map(withCertainty);
    const shown = [...ownRows, ...withoutCovered(others.flat().map(withCertainty), ownRows, window)];
    if (shown.length > MAX_LEDGER_ITEMS) return 'too-many';
    const grounds = await this.grounds(tx, organization, shown);
    return shown.toSorted(newestFirst).map((row) => asShown(row, grounds));
  }

  private async grounds(
    tx: Tx,
    organization: OrganizationId,
    shown: readonly FoundRow[],
  ): Promise<Map<string, SessionGrounds>> {
    const ids = shown.flatMap(({ holderKind, holderId }) => (holderKind === 'SESSION' ? [holderId] : []));
    const sessions = await tx.query<{ id: string; grounds: SessionGrounds }[]>(
      `SELECT s.id, jsonb_build_object('reason', s.reason, 'ticket', s.ticket, 'breakGlass', s.break_glass, 'approvers',
         ARRAY(SELECT u.email FROM users u WHERE u.id = ANY (s.approver_ids) ORDER BY u.email)) AS grounds
       FROM sessions s WHERE s.organization_id = $1 AND s.id = ANY ($2::uuid[])`,
      [organization, [...new Set(ids)]],
    );
    return new Map(sessions.map(({ id, grounds }) => [id, grounds]));
  }

  /** Past and live access of the organization's own holders. */
  private async ofHolders(
    tx: Tx,
    organization: OrganizationId,
    filter: AccessFilter,
    window: AccessWindow,
  ): Promise<FoundRow[][]> {
    const columns = {
      resource: ['e.resource_id', 'ip.resource_id'],
      user: ['e.user_id', 's.user_id'],
      address: ['e.address', 'r.address'],
      organization: ['', ''],
    } as const;
    const [closed, live] = columns[filter.by];
    return [
      await found(tx, window, (given, times) => {
        const own = given.add(organization);
        const condition = `e.organization_id = ${own} AND ${isMeant(given, closed, filter)}`;
        return closedIntervals(condition, own, times);
      }),
      await found(tx, window, (given, times) =>
        liveHolders(isMeant(given, live, filter), given.add(organization), times),
      ),
    ];
  }

  /** All other past and live access on the targets of the organization's resources. */
  private async ofTargets(
    tx: Tx,
    organization: OrganizationId,
    filter: AccessFilter,
    window: AccessWindow,
  ): Promise<FoundRow[][]> {
    if (filter.by === 'user') return [];
    const resourceId = filter.by === 'resource' ? filter.resourceId : null;
    const named = await this.listTargets(tx, organization, resourceId);
    if (named.length === 0) return [];
    const ids = named.map(({ targetId }) => targetId);
    const on = (given: Parameters, table: string, address = `${table}.address`): string =>
      `${table}.target_id = ANY (${given.add(ids)}::uuid[])` +
      (filter.by === 'address' ? ` AND ${isMeant(given, address, filter)}` : '');
    const rows = [
      await found(tx, window, (given, times) => {
        const own = given.add(organization);
        const condition = `${on(given, 'e')} AND (e.organization_id IS NULL OR e.organization_id <> ${own})`;
        return closedIntervals(condition, own, times);
      }),
      await found(tx, window, (given, times) =>
        liveWithoutHolder(on(given, 'r'), given.add(organization), times),
      ),
      await found(tx, window, (given, times) =>
        liveUnmanaged(on(given, 'n', `split_part(n.key, ' ', 1)`), times),
      ),
    ];
    const known = new Map(named.map((target) => [target.targetId, target]));
    return rows.map((part) => part.flatMap((row) => sinceCreation(row, known.get(row.targetId)!, window)));
  }

  /** @param resourceId null: all resources, the oldest of each target */
  private listTargets(
    tx: Tx,
    organization: OrganizationId,
    resourceId: string | null,
  ): Promise<KnownTarget[]> {
    const given = new Parameters();
    const own = given.add(organization);
    const one = resourceId === null ? '' : ` AND id = ${given.add(resourceId)}`;
    return tx.query(
      `SELECT DISTINCT ON (target_id) target_id AS "targetId", id AS "resourceId", name AS "resourceName",
         created_at AS "createdAt"
       FROM resources WHERE organization_id = ${own}${one} AND deleted_at IS NULL AND write_verified
       ORDER BY target_id, created_at`,
      given.values,
    );
  }
}

const DAY_MS = 24 * HOUR_MS;

/** Events are no older than their session or resource, so older partitions are skipped. A day is added for clock changes. */
const since = (given: Parameters, createdAt: Date): string =>
  `e.at >= ${given.add(new Date(createdAt.getTime() - DAY_MS))}`;

/** `to` includes its whole millisecond. */
function within(given: Parameters, { from, to }: LedgerRange): string {
  return [
    ...(from === null ? [] : [`AND e.at >= ${given.add(from)}`]),
    ...(to === null ? [] : [`AND e.at < ${given.add(new Date(to.getTime() + 1))}`]),
  ].join(' ');
}

/** Placeholders; each use of a getter adds a parameter. */
function windowSql(given: Parameters, { from, to }: AccessWindow): WindowSql {
  const time = (value: Date): string => `${given.add(value)}::timestamptz`;
  return {
    get from() {
      return time(from);
    },
    get to() {
      return time(to);
    },
    get shortEnd() {
      return time(new Date(to.getTime() + LONG_HOURS * HOUR_MS));
    },
  };
}

function found(
  tx: Tx,
  window: AccessWindow,
  statement: (given: Parameters, times: WindowSql) => string,
): Promise<FoundRow[]> {
  const given = new Parameters();
  return tx.query(statement(given, windowSql(given, window)), given.values);
}

/** SQL: whether a column is the filter's value; of an address, a range around it. */
function isMeant(given: Parameters, column: string, filter: AccessFilter): string {
  if (filter.by === 'organization') return 'true';
  if (filter.by === 'address') return `${column} = ANY (${given.add(rangesAround(filter.address))}::text[])`;
  return `${column} = ${given.add(filter.by === 'resource' ? filter.resourceId : filter.userId)}`;
}
