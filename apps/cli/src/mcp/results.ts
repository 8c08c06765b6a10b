import { addressesOf, type Session } from '#client';
import { lackingText, type AccessRequest } from '../access/approval';

export type Result = Record<string, unknown>;
type Access = Result & { readonly addresses: readonly string[] };

/** A session as the tools return it. @param id what the client knows it by */
export const accessOf = (
  session: Session,
  { id, until }: { readonly id: string; readonly until: Date },
): Access => ({
  sessionId: id,
  status: session.status,
  expiresAt: until.toISOString(),
  addresses: addressesOf(session),
  rules: session.resourceIps.map((rule) => ({
    resource: rule.resourceName,
    endpoint: rule.endpoint,
    address: rule.ipAddress,
    status: rule.status,
    problem: rule.errorMessage,
  })),
  waitsFor: null,
});

/** The same for what is not approved yet. */
export const pendingOf = (asked: AccessRequest): Access => ({
  sessionId: asked.id,
  status: 'PENDING',
  expiresAt: asked.decideBy,
  addresses: addressesOf(asked),
  rules: [],
  waitsFor: lackingText(asked),
});
