import { createHash } from 'node:crypto';
import type { EngineStore, LedgerRow, Lease, Loaded, UnmanagedRule } from '#engine-store';
import type { Tx } from '#entities';
import { latest, parseRuleKey, portsText, type Instant, type ObservedRule } from '#rules';
import type { OwnedOrigin } from './ledger-rows';
import type { UnissuedOrphans } from './unissued-orphans';

const nameOf = ({ key, providerRuleId }: Pick<ObservedRule, 'key' | 'providerRuleId'>): string =>
  `${providerRuleId} ${key}`;

/**
 * Records unmanaged rules that appeared or disappeared since the last comparison.
 * @param observed the unmanaged rules
 * @param all all rules of the read
 * @param endedAt end of the read
 * @param unissued some of which may be among the unmanaged
 */
export async function recordUnmanaged(
  tx: Tx,
  { unmanaged, ledger }: EngineStore,
  lease: Lease,
  observed: readonly ObservedRule[],
  all: readonly ObservedRule[],
  loaded: Loaded,
  endedAt: Instant,
  origin: OwnedOrigin,
  { question, keys }: UnissuedOrphans,
): Promise<LedgerRow[]> {
  const { targetId } = lease;
  const before = new Map((await unmanaged.seen(tx, targetId)).map((rule) => [nameOf(rule), rule]));
  const now = new Map(observed.map((rule) => [nameOf(rule), rule]));
  const appeared = [...now].flatMap(([name, { key, providerRuleId }]): UnmanagedRule[] =>
    before.has(name)
      ? []
      : [{ key, providerRuleId, possibleSince: loaded.comparedAt, presentSince: endedAt }],
  );
  const left = [...before].flatMap(([name, rule]) => (now.has(name) ? [] : [rule]));
  const present = new Set(all.map(nameOf));
  // a rule that is still present is no longer unmanaged: it is an orphan
  const gone = left.filter((rule) => !present.has(nameOf(rule)));
  const events = [
    ...gone.map((rule) => ledgerRow('CLOSED', rule, lease, loaded, endedAt, origin)),
    ...appeared.map((rule) => ({
      ...ledgerRow('FOUND', rule, lease, loaded, endedAt, origin),
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
  { targetId, provider, identifier }: Lease,
  { now, comparedAt }: Loaded,
  endedAt: Instant,
  { workerId, passId, credentialId }: OwnedOrigin,
): LedgerRow {
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
