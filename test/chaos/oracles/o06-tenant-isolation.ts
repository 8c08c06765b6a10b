import type { Evidence } from './evidence';
import type { Oracle } from './oracle';
import type { History } from './history';

export const tenantIsolation: Oracle = {
  id: 'O6',
  guarantee: 'no row, change or record of one organization belongs to another',
  violations(evidence: Evidence, history: History): string[] {
    const found: string[] = [];
    const ownerOf = (id: string | null): string | undefined =>
      evidence.owners.get(id ?? '') ?? history.sessions.get(id ?? '')?.[0]?.organizationId;
    for (const [ipId, [first]] of history.ips) {
      for (const id of [first!.sessionId, first!.resourceId]) {
        const owner = ownerOf(id);
        if (owner !== undefined && owner !== first!.organizationId)
          found.push(`address ${ipId} and ${id} belong to different organizations`);
      }
    }
    for (const record of evidence.audit) {
      const owner = ownerOf(record.resourceId);
      if (owner !== undefined && owner !== record.organizationId)
        found.push(`${record.eventType} of ${record.resourceId} is recorded for another organization`);
    }
    for (const { key, sessionId, organizationId } of evidence.storedKeys) {
      const owner = ownerOf(sessionId);
      if (owner !== undefined && owner !== organizationId)
        found.push(`Idempotency-Key ${key} answers with another organization's session ${sessionId}`);
    }
    return [...found, ...foreignCredentials(evidence, history)];
  },
};

/** A rule may only be written with a credential of an organization that holds or held it. */
function foreignCredentials(evidence: Evidence, history: History): string[] {
  return [...history.rules].flatMap(([ruleId, moves]) => {
    const holds = history.holds.get(history.ruleNames.get(ruleId) ?? '') ?? [];
    if (holds.length === 0) return [];
    const allowed = new Set(holds.map((hold) => hold.organizationId));
    const foreign = moves.find(({ credentialId, seeded }) => {
      const owner = evidence.owners.get(credentialId ?? '');
      return !seeded && owner !== undefined && !allowed.has(owner);
    });
    return foreign
      ? [`${foreign.key} was written with a credential of an organization that never held it`]
      : [];
  });
}
