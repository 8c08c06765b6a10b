import { canonicalCidr, ruleKey, type ChangeResult } from '#rules';
import { allTrafficFrom } from '../open-target';
import type { CloudTarget, RemoveChange, RuleChange } from '../provider-driver';

type Refused = Extract<ChangeResult, { result: 'refused' }>;

/** Of an addition that is not sent. */
export const refused = (kind: 'invalid' | 'wrong-family', message: string): Refused => ({
  result: 'refused',
  kind,
  message,
});

/** How one kind of list is read and written. Its rules let all traffic of an address in, and carry no mark. */
export interface ListForm {
  /** the canonical range under which an entry may be ours; null: it admits no traffic, or is spelled as we never do */
  own(entry: string): string | null;
  /** the entry for a canonical range, or why it is not added */
  spell(cidr: string): string | Refused;
  /** the id of the rule that an entry of ours is */
  idOf(cidr: string): string;
  /** @returns null when it is no id of this list */
  cidrOf(providerRuleId: string): string | null;
  /** an entry that admits no traffic, which every list of ours begins with; null: none is needed */
  readonly sentinel: string | null;
  readonly whenEmpty: 'closed' | 'open';
  /** a refused list does not say which addition is at fault, or how many fit: it is divided */
  readonly isDivided: boolean;
}

/** Of a list that spells addresses as it likes: an entry is ours by what it means. */
export const BY_MEANING: Omit<ListForm, 'spell' | 'whenEmpty'> = {
  own: (entry) => canonicalCidr(entry)?.cidr ?? null,
  idOf: (cidr) => cidr,
  cidrOf: (providerRuleId) => canonicalCidr(providerRuleId)?.cidr ?? null,
  sentinel: null,
  isDivided: true,
};

/** The planned write of a batch. */
export interface Rewrite {
  /** the complete list to write; null: no change */
  readonly entries: readonly string[] | null;
  /** results that need no write, by index of the change */
  readonly settled: ReadonlyMap<number, ChangeResult>;
  /** the canonical range of each other change, by index of the change */
  readonly changed: ReadonlyMap<number, string>;
}

const LAST_ENTRY = refused(
  'invalid',
  'An empty list lets everybody in: add an address of yours to the list first',
);
const HAS_NO_PORTS = refused('invalid', 'A list of addresses knows no protocols and no ports');

export const keyOfCidr = (address: string): string => ruleKey(allTrafficFrom(address));

/** Plans removals, then additions. Entries of other programs keep their spelling and order. */
export function planRewrite(
  entries: readonly string[],
  changes: readonly RuleChange[],
  claims: CloudTarget['claims'],
  form: ListForm,
): Rewrite {
  const settled = new Map<number, ChangeResult>();
  const changed = new Map<number, string>();
  const present = new Set(entries.flatMap((entry) => form.own(entry) ?? []));
  const removed = new Set<string>();
  const added = new Map<string, string>();
  for (const [index, change] of changes.entries()) {
    if (change.action === 'add') continue;
    const cidr = ownRange(change, claims, form);
    if (cidr === null) settled.set(index, { result: 'done', providerRuleId: null });
    else if (!present.has(cidr))
      settled.set(index, { result: 'done', providerRuleId: null, wasAbsent: true });
    else {
      removed.add(cidr);
      changed.set(index, cidr);
    }
  }
  for (const [index, change] of changes.entries()) {
    if (change.action === 'remove') continue;
    const { address, protocol, ports } = change.spec;
    const entry = protocol !== 'all' || ports.length > 0 ? HAS_NO_PORTS : form.spell(address);
    if (typeof entry === 'string') {
      added.set(address, entry);
      changed.set(index, address);
    } else settled.set(index, entry);
  }
  const isKept = (entry: string): boolean => {
    const cidr = form.own(entry);
    return entry !== form.sentinel && (cidr === null || !removed.has(cidr) || added.has(cidr));
  };
  const newEntries = [...added].flatMap(([cidr, entry]) => (present.has(cidr) ? [] : [entry]));
  const wouldOpen = form.whenEmpty === 'open' && form.sentinel === null;
  if (wouldOpen && newEntries.length === 0 && !entries.some(isKept)) {
    const last = [...removed].at(-1);
    for (const [index, cidr] of changed)
      if (cidr === last) {
        changed.delete(index);
        settled.set(index, LAST_ENTRY);
      }
    if (last !== undefined) removed.delete(last);
  }
  const isChanged = newEntries.length > 0 || [...removed].some((cidr) => !added.has(cidr));
  const first = form.sentinel === null ? [] : [form.sentinel];
  const written = isChanged ? [...first, ...entries.filter(isKept), ...newEntries] : null;
  return { entries: written, settled, changed };
}

/** The range of a removal. @returns null when it is not ours */
function ownRange(
  { providerRuleId }: RemoveChange,
  claims: CloudTarget['claims'],
  form: ListForm,
): string | null {
  const cidr = form.cidrOf(providerRuleId);
  return cidr !== null && claims.has(keyOfCidr(cidr)) ? cidr : null;
}

/** The results of the changes. @param entries of the list as read after the write */
export function resultsOf(
  entries: readonly string[],
  changes: readonly RuleChange[],
  { settled, changed }: Rewrite,
  form: ListForm,
): ChangeResult[] {
  const present = new Set(entries.flatMap((entry) => form.own(entry) ?? []));
  const added = new Set(
    changes.flatMap((change, index) => (change.action === 'add' ? (changed.get(index) ?? []) : [])),
  );
  return changes.map(({ action }, index) => {
    const known = settled.get(index);
    if (known) return known;
    const cidr = changed.get(index)!;
    const isDone = action === 'add' ? present.has(cidr) : !present.has(cidr) || added.has(cidr);
    if (isDone) return { result: 'done', providerRuleId: action === 'add' ? form.idOf(cidr) : null };
    const message = 'Another client changed the list at the same time';
    return { result: 'refused', kind: 'conflict', message };
  });
}
