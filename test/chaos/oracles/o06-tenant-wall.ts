import type { Evidence } from './evidence';
import type { Oracle } from './oracle';
import type { History } from './history';

export const tenantWall: Oracle = {
  id: 'O6',
  promise: 'nothing of one organization belongs to, moves or is told to another',
  violations(evidence: Evidence, history: History): string[] {
    const found: string[] = [];
    const ownerOf = (id: string | null): string | undefined =>
      evidence.owners.get(id ?? '') ?? history.sessions.get(id ?? '')?.[0]?.organizationId;
    for (const [ipId, [first]] of history.ips) {
      for (const id of [first!.sessionId, first!.resourceId]) {
        const owner = ownerOf(id);
        if (owner !== undefined && owner !== first!.organizationId)
          found.push(`address ${ipId} is one organization's, ${id} another's`);
      }
    }
    for (const record of evidence.audit) {
      const owner = ownerOf(record.resourceId);
      if (owner !== undefined && owner !== record.organizationId)
        found.push(`${record.eventType} of ${record.resourceId} is told to another organization`);
    }
    for (const { key, sessionId, organizationId } of evidence.storedKeys) {
      const owner = ownerOf(sessionId);
      if (owner !== undefined && owner !== organizationId)
        found.push(`Idempotency-Key ${key} answers with another organization's session ${sessionId}`);
    }
    return [...found, ...strangeCredentials(evidence, history)];
  },
};

/** A rule is written with a credential of an organization that holds or held it. */
function strangeCredentials(evidence: Evidence, history: History): string[] {
  return [...history.rules].flatMap(([ruleId, moves]) => {
    const holds = history.holds.get(history.ruleNames.get(ruleId) ?? '') ?? [];
    if (holds.length === 0) return [];
    const allowed = new Set(holds.map((hold) => hold.organizationId));
    const strange = moves.find(({ credentialId, seeded }) => {
      const owner = evidence.owners.get(credentialId ?? '');
      return !seeded && owner !== undefined && !allowed.has(owner);
    });
    return strange
      ? [`${strange.key} was written with a credential of an organization that never held it`]
      : [];
  });
}
