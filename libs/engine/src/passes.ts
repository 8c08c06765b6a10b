import type { Access, DueRuleRow, HolderRow } from '#engine-store';
import { grouped } from '#rules';

/** The way a pass takes: whose it is, and for how long it is not to be tried. */
export interface PassAccess extends Access {
  /** null: the credential is gone */
  readonly organizationId: string | null;
  /** as `KnownAccess.deniedMs` */
  readonly deniedMs: number | null;
}

/** One way into a target, and the due rules to be settled that way. */
export interface Pass {
  readonly access: PassAccess;
  readonly rules: readonly DueRuleRow[];
  /** rules that others wait for in other ways: each way has a pass of its own */
  readonly shared: ReadonlySet<string>;
  /** ResourceIps that wait for these rules and whose own way this is */
  readonly waiting: readonly Pick<HolderRow, 'resourceIpId' | 'pendingSince'>[];
}

export interface Sorted {
  /** settled without asking the provider: never written, or present and waited for by nothing */
  readonly settled: DueRuleRow[];
  /** kept by other holders: those that were released need not wait for the provider */
  readonly kept: DueRuleRow[];
  readonly open: DueRuleRow[];
}

/** Of one organization in one round: then the others' turn comes, and what came due meanwhile is read. */
const MAX_ADD_PASSES = 2;

const waits = (rule: DueRuleRow): boolean => rule.holders.some((holder) => holder.status === 'PENDING');
const leaves = (rule: DueRuleRow): boolean => rule.holders.some((holder) => holder.status === 'REMOVING');

const isSettled = (rule: DueRuleRow): boolean =>
  isAbandoned(rule) || (rule.desired ? isPresent(rule) : isGone(rule));

/** Its target will never answer again. */
export const isAbandoned = ({ desired, abandoned }: DueRuleRow): boolean => !desired && abandoned !== null;

const isPresent = (rule: DueRuleRow): boolean => rule.state === 'present' && !waits(rule) && !rule.inDoubt;

const isGone = (rule: DueRuleRow): boolean =>
  (rule.state === 'absent' || rule.writtenWith === null) && !rule.inFlight;

/** Which due rules need a look at the target. */
export function sortDue(due: readonly DueRuleRow[]): Sorted {
  const open = due.filter((rule) => !isSettled(rule));
  return {
    settled: due.filter(isSettled),
    kept: open.filter((rule) => rule.desired && leaves(rule)),
    open,
  };
}

/**
 * Groups rules by the way into the target. Each holder that waits sees its rule through its own credential: naming another
 * tenant's target opens nothing. A rule that is unwanted is removed the way it was written.
 */
export function passes(open: readonly DueRuleRow[]): Pass[] {
  const found = new Map<
    string,
    { access: PassAccess; rules: DueRuleRow[]; shared: Set<string>; waiting: HolderRow[] }
  >();
  for (const rule of open) {
    const ways = waysTo(rule);
    for (const access of ways) {
      const key = accessKey(access);
      const pass = found.get(key) ?? { access, rules: [], shared: new Set(), waiting: [] };
      pass.rules.push(rule);
      if (ways.length > 1) pass.shared.add(rule.ruleId);
      if (rule.desired) pass.waiting.push(...waitingBy(rule, key));
      found.set(key, pass);
    }
  }
  return [...found.values()];
}

const removes = ({ rules }: Pass): boolean => rules.some((rule) => !rule.desired);

/**
 * The passes of one round: all that remove, across organizations, then a few that add of each organization. One tenant's
 * slow or refused credentials do not keep another's removal waiting for longer than one of them takes.
 */
export function roundOf(all: readonly Pass[]): Pass[] {
  const additions = all.filter((pass) => !removes(pass));
  const turns = [...grouped(additions, ({ access }) => access.organizationId).values()].flatMap((own) =>
    own.slice(0, MAX_ADD_PASSES),
  );
  return [...all.filter(removes), ...turns];
}

/** The pass as it is after earlier ones left calls on their way: the rules were read before them. */
export function withInDoubt(pass: Pass, inDoubt: ReadonlySet<string>, inFlightMs: number): Pass {
  const rules = pass.rules.map((rule) =>
    inDoubt.has(rule.ruleId) ? { ...rule, inFlight: true, inFlightMs, inDoubt: true } : rule,
  );
  return { ...pass, rules };
}

/**
 * A pass that broke off, as it stands now: what it sent, and what was settled of it, is in the database.
 * @param rules of the pass, those to be done again
 * @param due read after it broke off
 * @returns undefined when nothing is left to do that way
 */
export function begunAgain(
  { access }: Pass,
  rules: readonly DueRuleRow[],
  due: readonly DueRuleRow[],
): Pass | undefined {
  const ids = new Set(rules.map(({ ruleId }) => ruleId));
  const { open } = sortDue(due.filter(({ ruleId }) => ids.has(ruleId)));
  return passes(open).find((pass) => accessKey(pass.access) === accessKey(access));
}

const accessKey = (access: Access): string => `${access.credentialId} ${access.region ?? ''}`;

const waitingBy = (rule: DueRuleRow, key: string): HolderRow[] =>
  rule.holders.filter((holder) => holder.status === 'PENDING' && accessKey(holder.access) === key);

const distinct = (ways: readonly PassAccess[]): PassAccess[] => [
  ...new Map(ways.map((access) => [accessKey(access), access])).values(),
];

function waysTo(rule: DueRuleRow): PassAccess[] {
  const ofStatus = (status: string): PassAccess[] =>
    rule.holders.filter((holder) => holder.status === status).map((holder) => holder.access);
  const waiting = rule.desired ? ofStatus('PENDING') : [];
  if (waiting.length > 0) return distinct(waiting);
  const { writtenWith, writerOrganizationId: organizationId } = rule;
  const written = writtenWith ? [{ ...writtenWith, organizationId, deniedMs: null }] : [];
  const ways = distinct(
    rule.desired
      ? [...ofStatus('APPLIED'), ...written]
      : // a removal backs off by itself, and is tried however often the credential was denied for others
        [...written, ...ofStatus('REMOVING').map((access) => ({ ...access, deniedMs: null }))],
  );
  // the way it was written may be closed by now: each attempt takes the next
  const way = ways[rule.attempts % ways.length];
  return way ? [way] : [];
}
