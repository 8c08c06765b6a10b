import type { Access, DueRuleRow, HolderRow, Settlement } from '#entities';

/** One way into the cloud object, and the due rules to be looked at that way. */
export interface Pass {
  readonly access: Access;
  readonly rules: readonly DueRuleRow[];
  /** rules that others wait for in other ways: each way has a pass of its own */
  readonly shared: ReadonlySet<string>;
  /** ResourceIps that wait for these rules and whose own way this is */
  readonly waiting: Settlement['waiting'];
}

export interface Sorted {
  /** settled without asking the cloud: never opened, or standing and waited for by nobody */
  readonly settled: DueRuleRow[];
  /** kept by other holders: whoever lets go of them need not wait for the cloud */
  readonly kept: DueRuleRow[];
  readonly open: DueRuleRow[];
}

const waits = (rule: DueRuleRow): boolean => rule.holders.some((holder) => holder.status === 'PENDING');
const leaves = (rule: DueRuleRow): boolean => rule.holders.some((holder) => holder.status === 'REMOVING');

const isSettled = (rule: DueRuleRow): boolean =>
  rule.wanted
    ? rule.state === 'present' && !waits(rule) && !rule.unheard
    : (rule.state === 'absent' || rule.writtenWith === null) && !rule.inFlight;

/** Which due rules need a look at the cloud. */
export function sortDue(due: readonly DueRuleRow[]): Sorted {
  const open = due.filter((rule) => !isSettled(rule));
  return {
    settled: due.filter(isSettled),
    kept: open.filter((rule) => rule.wanted && leaves(rule)),
    open,
  };
}

/**
 * Groups rules by the way into the cloud. Everyone who waits for a rule sees it through their own credential: naming
 * somebody else's cloud object opens nothing. A rule that nobody wants is removed the way it was written.
 */
export function passes(open: readonly DueRuleRow[]): Pass[] {
  const found = new Map<
    string,
    { access: Access; rules: DueRuleRow[]; shared: Set<string>; waiting: HolderRow[] }
  >();
  for (const rule of open) {
    const ways = waysTo(rule);
    for (const access of ways) {
      const key = accessKey(access);
      const pass = found.get(key) ?? { access, rules: [], shared: new Set(), waiting: [] };
      pass.rules.push(rule);
      if (ways.length > 1) pass.shared.add(rule.ruleId);
      pass.waiting.push(...waitingBy(rule, key));
      found.set(key, pass);
    }
  }
  return [...found.values()];
}

/** The pass as it is after earlier ones left calls on their way: the rules were read before them. */
export function withUnheard(pass: Pass, unheard: ReadonlySet<string>, inFlightMs: number): Pass {
  const rules = pass.rules.map((rule) =>
    unheard.has(rule.ruleId) ? { ...rule, inFlight: true, inFlightMs, unheard: true } : rule,
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

const distinct = (ways: readonly Access[]): Access[] => [
  ...new Map(ways.map((access) => [accessKey(access), access])).values(),
];

function waysTo(rule: DueRuleRow): Access[] {
  const ofStatus = (status: string): Access[] =>
    rule.holders.filter((holder) => holder.status === status).map((holder) => holder.access);
  const waiting = ofStatus('PENDING');
  if (waiting.length > 0) return distinct(waiting);
  const ways = distinct(
    (rule.wanted
      ? [...ofStatus('APPLIED'), rule.writtenWith]
      : [rule.writtenWith, ...ofStatus('REMOVING')]
    ).filter((access) => access !== null),
  );
  // the way it was written may be closed by now: each attempt takes the next
  const way = ways[rule.attempts % ways.length];
  return way ? [way] : [];
}
