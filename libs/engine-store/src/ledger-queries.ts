import {
  type AccessInterval,
  coverageOf,
  type HolderKind,
  mergeIntervals,
  type OrganizationId,
  overlaps,
  type Provider,
  type RuleCause,
  withCertainty,
} from '#rules';
import type { Slice, Sliced, TenantStore, Tx } from '#entities';
import {
  closedIntervals,
  liveHolders,
  liveUnmanaged,
  liveWithoutHolder,
  LONG_HOURS,
  type WindowSql,
} from './access-sql';
import { eventCount, eventPage, Parameters, type RuleEventRow } from './ledger-events';

/** How deep a list of events is paged and counted, and how many items a report has. */
export const MAX_LEDGER_ITEMS = 10_000;

/** One more than is shown tells that there are too many. */
const MAX_READ = MAX_LEDGER_ITEMS + 1;
const HOUR_MS = 3_600_000;

/** From when and until when, both included; null: without a bound. */
export interface LedgerRange {
  readonly from: Date | null;
  readonly to: Date | null;
}

/** The times a report is about, both included; an instant has the same time twice. */
export interface AccessWindow {
  readonly from: Date;
  readonly to: Date;
}

/** What a report is about. `address`: a canonical CIDR. */
export type AccessFilter =
  | { readonly by: 'resource'; readonly resourceId: string }
  | { readonly by: 'user'; readonly userId: string }
  | { readonly by: 'address'; readonly address: string };

/** One address that was let in, for one holder or without one. */
export interface AccessRow extends AccessInterval {
  /** without an own holder, the organization's oldest resource on the target */
  readonly resourceId: string;
  readonly resourceName: string;
  readonly provider: Provider;
  readonly identifier: string;
  readonly address: string;
  readonly protocol: string;
  readonly ports: string;
  readonly holderKind: HolderKind;
  /** of the session or the static IP rule */
  readonly holderId: string | null;
  readonly userEmail: string | null;
  readonly cause: RuleCause | null;
}

/** A row, with the target it is on. */
interface FoundRow extends AccessRow {
  readonly targetId: string;
}

/** A target of which the organization may know all: one of its resources was verified to write there. */
interface KnownTarget {
  readonly targetId: string;
  readonly resourceId: string;
  readonly resourceName: string;
  readonly createdAt: Date;
}

/**
 * What the ledger and the live state tell an organization of its rules. Rows of other organizations on a shared target
 * are reduced to `OTHER`, and targets are read only where a resource of the organization proved that it may write.
 */
export class LedgerQueries implements TenantStore<LedgerQueries> {
  /**
   * Events of a session's rules, newest first. Costs the rows up to the end of the page, and a count of at most
   * `MAX_LEDGER_ITEMS` index entries; months before the session's are not read.
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
   * Events of a resource's rules, and of rules without a holder on the target it names now, newest first. Costs as
   * `sessionEvents`, for each of the two.
   */
  async resourceEvents(
    tx: Tx,
    organization: OrganizationId,
    resource: { readonly id: string; readonly createdAt: Date },
    range: LedgerRange,
    slice: Slice,
  ): Promise<Sliced<RuleEventRow>> {
    const [target] = await this.knownTargets(tx, organization, resource.id);
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
   * Who was let in when, newest first. To be called in a transaction of its own, before any other statement: it reads one
   * state of the database. Costs the ends in the window and two days after it, the long intervals of the organization and
   * of its targets, and the live rules of both.
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
    const shown = [...ownRows, ...withoutOwn(others.flat().map(withCertainty), ownRows, window)];
    return shown.length > MAX_LEDGER_ITEMS ? 'too-many' : shown.toSorted(newestFirst).map(asShown);
  }

  /** What the organization's own holders had and have. */
  private async ofHolders(
    tx: Tx,
    organization: OrganizationId,
    filter: AccessFilter,
    window: AccessWindow,
  ): Promise<FoundRow[][]> {
    const closed = { resource: 'e.resource_id', user: 'e.user_id', address: 'e.address' }[filter.by];
    const live = { resource: 'ip.resource_id', user: 's.user_id', address: 'r.address' }[filter.by];
    return [
      await found(tx, (given) => {
        const own = given.add(organization);
        const condition = `e.organization_id = ${own} AND ${closed} = ${given.add(valueOf(filter))}`;
        return closedIntervals(condition, own, windowSql(given, window), MAX_READ);
      }),
      await found(tx, (given) => {
        const condition = `${live} = ${given.add(valueOf(filter))}`;
        return liveHolders(condition, given.add(organization), windowSql(given, window), MAX_READ);
      }),
    ];
  }

  /** What else was and is let in on the targets of the organization's resources. */
  private async ofTargets(
    tx: Tx,
    organization: OrganizationId,
    filter: AccessFilter,
    window: AccessWindow,
  ): Promise<FoundRow[][]> {
    if (filter.by === 'user') return [];
    const resourceId = filter.by === 'resource' ? filter.resourceId : null;
    const named = await this.knownTargets(tx, organization, resourceId);
    if (named.length === 0) return [];
    const ids = named.map(({ targetId }) => targetId);
    const on = (given: Parameters, table: string, address = `${table}.address`): string =>
      `${table}.target_id = ANY (${given.add(ids)}::uuid[])` +
      (filter.by === 'address' ? ` AND ${address} = ${given.add(filter.address)}` : '');
    const rows = [
      await found(tx, (given) => {
        const own = given.add(organization);
        const condition = `${on(given, 'e')} AND (e.organization_id IS NULL OR e.organization_id <> ${own})`;
        return closedIntervals(condition, own, windowSql(given, window), MAX_READ);
      }),
      await found(tx, (given) =>
        liveWithoutHolder(on(given, 'r'), given.add(organization), windowSql(given, window), MAX_READ),
      ),
      await found(tx, (given) =>
        liveUnmanaged(on(given, 'n', `split_part(n.key, ' ', 1)`), windowSql(given, window), MAX_READ),
      ),
    ];
    const known = new Map(named.map((target) => [target.targetId, target]));
    return rows.map((part) => part.flatMap((row) => sinceCreation(row, known.get(row.targetId)!, window)));
  }

  /** @param resourceId null: of all resources, of several on one target the oldest */
  private knownTargets(
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

/** Nothing of an object is older than the object: months before need not be read. A day, as clocks may be set back. */
const since = (given: Parameters, createdAt: Date): string =>
  `e.at >= ${given.add(new Date(createdAt.getTime() - DAY_MS))}`;

/** A time that is given in milliseconds means all of its millisecond. */
function within(given: Parameters, { from, to }: LedgerRange): string {
  return [
    ...(from === null ? [] : [`AND e.at >= ${given.add(from)}`]),
    ...(to === null ? [] : [`AND e.at < ${given.add(new Date(to.getTime() + 1))}`]),
  ].join(' ');
}

/** Placeholders that become parameters where a statement names them. */
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

function found(tx: Tx, statement: (given: Parameters) => string): Promise<FoundRow[]> {
  const given = new Parameters();
  return tx.query(statement(given), given.values);
}

function valueOf(filter: AccessFilter): string {
  if (filter.by === 'resource') return filter.resourceId;
  return filter.by === 'user' ? filter.userId : filter.address;
}

/** What happened on a target before the organization's resource existed is none of its business. */
function sinceCreation(row: FoundRow, target: KnownTarget, { from, to }: AccessWindow): FoundRow[] {
  if (target.createdAt > to) return [];
  const begin = target.createdAt > from ? target.createdAt : from;
  if (!overlaps(row, begin, to)) return [];
  return [{ ...row, resourceId: target.resourceId, resourceName: target.resourceName }];
}

/**
 * Rows of other organizations, without those that only repeat what own rows of the same rule tell, and without telling
 * how many holders they were; all other rows as they are.
 */
function withoutOwn(
  rows: readonly FoundRow[],
  own: readonly FoundRow[],
  { from, to }: AccessWindow,
): FoundRow[] {
  const ownOf = groupedByRule(own);
  const others = rows.filter(({ holderKind }) => holderKind === 'OTHER');
  return [
    ...rows.filter(({ holderKind }) => holderKind !== 'OTHER'),
    ...[...groupedByRule(others)].flatMap(([rule, group]) => {
      const isCovered = coverageOf(ownOf.get(rule) ?? []);
      return mergeIntervals(group.filter((row) => !isCovered(row, from, to)));
    }),
  ];
}

const ruleOf = ({ targetId, address, protocol, ports }: FoundRow): string =>
  [targetId, address, protocol, ports].join(' ');

function groupedByRule(rows: readonly FoundRow[]): Map<string, FoundRow[]> {
  const groups = new Map<string, FoundRow[]>();
  for (const row of rows) {
    const group = groups.get(ruleOf(row));
    if (group) group.push(row);
    else groups.set(ruleOf(row), [row]);
  }
  return groups;
}

const newestFirst = (one: FoundRow, other: FoundRow): number =>
  (other.possibleFrom?.getTime() ?? 0) - (one.possibleFrom?.getTime() ?? 0) ||
  ruleOf(one).localeCompare(ruleOf(other));

const asShown = ({ targetId: _target, ...row }: FoundRow): AccessRow => row;
