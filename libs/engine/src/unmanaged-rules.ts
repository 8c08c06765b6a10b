import { createHash } from 'node:crypto';
import type { EngineStore, LedgerRow, Lease, Loaded, UnmanagedRule } from '#engine-store';
import type { Tx } from '#entities';
import { latest, parseRuleKey, portsText, type Instant, type ObservedRule } from '#rules';
import type { OwnedOrigin } from './ledger-rows';
import type { UnissuedOrphans } from './unissued-orphans';

const nameOf = ({ key, providerRuleId }: Pick<ObservedRule, 'key' | 'providerRuleId'>): string =>
  `${providerRuleId} ${key}`;

/** A read of a target that is compared with its rows. */
export interface ComparedRead {
  readonly lease: Lease;
  readonly loaded: Loaded;
  readonly endedAt: Instant;
  readonly origin: OwnedOrigin;
}

/**
 * Records unmanaged rules that appeared or disappeared since the last comparison.
 * @param observed the unmanaged rules
 * @param all all rules of the read
 * @param unissued some of which may be among the unmanaged
 */
export async function recordUnmanaged(
  tx: Tx,
  { unmanaged, ledger }: EngineStore,
  read: ComparedRead,
  { observed, all }: Readonly<Record<'observed' | 'all', readonly ObservedRule[]>>,
  { question, keys }: UnissuedOrphans,
): Promise<LedgerRow[]> {
  const { targetId } = read.lease;
  const before = new Map((await unmanaged.listSeen(tx, targetId)).map((rule) => [nameOf(rule), rule]));
  const now = new Map(observed.map((rule) => [nameOf(rule), rule]));
  const appeared = [...now].flatMap(([name, { key, providerRuleId }]): UnmanagedRule[] =>
    before.has(name)
      ? []
      : [{ key, providerRuleId, possibleSince: read.loaded.comparedAt, presentSince: read.endedAt }],
  );
  const left = [...before].flatMap(([name, rule]) => (now.has(name) ? [] : [rule]));
  const present = new Set(all.map(nameOf));
  // a rule that is still present is no longer unmanaged: it is an orphan
  const gone = left.filter((rule) => !present.has(nameOf(rule)));
  const events = [
    ...gone.map((rule) => ledgerRow('CLOSED', rule, read)),
    ...appeared.map((rule) => ({
      ...ledgerRow('FOUND', rule, read),
      message: keys.has(rule.key) ? question : null,
    })),
  ];
  if (left.length > 0) await unmanaged.remove(tx, targetId, left);
  if (appeared.length > 0) await unmanaged.add(tx, targetId, appeared);
  await ledger.record(tx, events);
  return events;
}

function ledgerRow(
  kind: 'FOUND' | 'CLOSED',
  { key, providerRuleId, possibleSince, presentSince }: UnmanagedRule,
  { lease: { targetId, provider, identifier }, loaded: { now, comparedAt }, endedAt, origin }: ComparedRead,
): LedgerRow {
  const { workerId, passId, credentialId } = origin;
  const { address, protocol, ports } = parseRuleKey(key);
  const isOver = kind === 'CLOSED';
  return {
    kind,
    at: new Date(now),
    ruleId: null,
    targetId,
    provider,
    target: identifier,
    address,
    protocol,
    ports: portsText(ports),
    providerRuleId,
    cause: null,
    message: null,
    possibleFrom: possibleSince,
    certainFrom: presentSince,
    certainUntil: isOver ? latest(comparedAt, presentSince) : null,
    possibleUntil: isOver ? endedAt : null,
    holderKind: 'UNMANAGED',
    organizationId: null,
    resourceId: null,
    resourceName: null,
    sessionId: null,
    staticIpRuleId: null,
    userId: null,
    userEmail: null,
    credentialId,
    workerId,
    passId,
  };
}

/** Changes exactly when an unmanaged rule appears or disappears. */
export function digestOf(observed: readonly ObservedRule[]): string {
  const names = observed.map(nameOf).sort();
  return createHash('sha256').update(names.join('\n')).digest('base64url');
}
