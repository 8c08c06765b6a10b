import type { Type } from '@nestjs/common';
import { RESOURCE_MODULES } from '../../apps/api/src/app.module';
import { routesOf, type Route } from '../../apps/api/src/docs/route-table';
import { MatrixObjects, objectsIn, pathWith, type Owner } from '../builders/contract/matrix-objects';
import { group, ownOrganization } from '../builders/accounts/organization';
import type { Answer, ApiClient } from '../harness/product/api-client';
import { Drawbridge } from '../harness/product/drawbridge';

/** Opens or widens something, and is refused; or closes, narrows or repairs something, and works. */
type Effect = 'opens' | 'closes';
type Case = readonly [Effect, object?];

const NOBODY = '00000000-0000-4000-8000-000000000000';

/** Every route that changes something, with bodies that decide which of the two it is. */
const ROUTES: Readonly<Record<string, readonly Case[]>> = {
  'POST /sessions': [['opens', { ipv4Address: '203.0.113.2' }]],
  'POST /sessions/{id}/extend': [['opens', { additionalHours: 1 }]],
  'POST /sessions/plan': [['opens', {}]],
  'POST /sessions/{id}/renew': [['closes']],
  'POST /sessions/{id}/stop': [['closes']],
  'POST /sessions/admin/{id}/stop': [['closes']],
  'POST /sessions/admin/bulk': [['closes', { sessionIds: [NOBODY], action: 'STOP' }]],

  'POST /access-requests': [['opens', { resourceIds: [], durationHours: 1, reason: 'INC-12' }]],
  'POST /access-requests/{id}/approve': [['opens']],
  'POST /access-requests/{id}/deny': [['closes']],
  'POST /access-requests/{id}/cancel': [['closes']],
  'POST /access-requests/{id}/withdraw': [['closes']],
  'POST /access-requests/{id}/review': [['closes']],

  'POST /resources': [['opens', {}]],
  'POST /resources/bulk': [['opens', {}]],
  'POST /resources/verify': [['closes', { resourceIds: [NOBODY] }]],
  'POST /resources/labels': [['closes', { resourceIds: [NOBODY], remove: ['env'] }]],
  'POST /resources/{id}/verify': [['closes']],
  'POST /resources/{id}/reconcile': [['closes']],
  'POST /resources/{id}/abandon': [['closes', { reason: 'The account is closed' }]],
  'POST /resources/{id}/confirm-guard': [['closes']],
  'PATCH /resources/{id}': [
    ['opens', { config: { protocol: 'udp', port: 53 } }],
    ['opens', { resourceIdentifier: 'sg-0fedcba9876543210' }],
    ['opens', { region: 'eu-west-1' }],
    ['opens', { isActive: true }],
    ['closes', { isActive: false }],
    ['closes', { name: 'Renamed' }],
  ],
  'DELETE /resources/{id}': [['closes']],

  'POST /credentials': [['opens', { name: 'Spare', provider: 'AGENT', credentialType: 'AGENT' }]],
  'POST /credentials/{id}/verify': [['closes']],
  'PATCH /credentials/{id}': [['closes', { name: 'Renamed' }]],
  'DELETE /credentials/{id}': [['closes']],
  'POST /credentials/{id}/accounts/refresh': [['closes']],
  'PATCH /credentials/{id}/accounts/{account}': [['closes', { label: 'Payments' }]],
  'POST /credentials/{id}/accounts/{account}/verify': [['closes']],

  'POST /roles': [['opens', { name: 'Operators' }]],
  'PATCH /roles/{id}': [
    ['opens', { maxSessionDurationHours: 24 }],
    ['opens', { maxSessionDurationHours: null }],
    ['opens', { userIds: ['00000000-0000-4000-8000-000000000000'] }],
    ['opens', { reasonPattern: 'INC-*' }],
    ['opens', { approvals: 0 }],
    ['opens', { approverRoleIds: ['00000000-0000-4000-8000-000000000000'] }],
    ['opens', { mayBreakGlass: true }],
    ['opens', { requireReason: false }],
    ['opens', { ipv6PrefixLength: 64 }],
    ['opens', { resourceSelector: { env: ['prod'] } }],
    ['closes', { approvals: 2, requireReason: true }],
    ['closes', { resourceIds: [] }],
    ['closes', { maxSessionDurationHours: 1 }],
    ['closes', { description: 'Those who are on call' }],
  ],
  'DELETE /roles/{id}': [['closes']],
  'POST /roles/{id}/members': [['closes', { removeUserIds: [NOBODY] }]],
  'POST /roles/{id}/resources/{resourceId}': [['opens']],
  'POST /roles/{id}/users/{userId}': [['opens']],
  'DELETE /roles/{id}/resources/{resourceId}': [['closes']],
  'DELETE /roles/{id}/users/{userId}': [['closes']],

  'POST /users': [['opens', { email: 'grace@example.com', name: 'Grace' }]],
  'POST /users/bulk': [['closes', { userIds: [NOBODY], action: 'DEACTIVATE' }]],
  'PATCH /users/{id}': [
    ['opens', { isOrgAdmin: true }],
    ['closes', { isActive: false }],
    ['closes', { isOrgAdmin: false }],
    ['closes', { name: 'Renamed' }],
  ],
  'DELETE /users/{id}': [['closes']],
  'POST /users/{id}/lockdown': [['closes', { reason: 'INC-12' }]],
  'DELETE /users/{id}/lockdown': [['closes']],
  'POST /users/{id}/password-link': [['closes']],
  'DELETE /users/{id}/sign-ins': [['closes']],
  'POST /users/{id}/reset-mfa': [['closes']],
  'POST /users/{id}/resend-invitation': [['opens']],

  'POST /static-ip-rules': [['opens', { label: 'Office', ipAddress: '203.0.113.8', resourceIds: [] }]],
  'PATCH /static-ip-rules/{id}': [
    ['opens', { resourceIds: ['7f7b5e4e-6a0c-4f0a-9c8a-000000000000'] }],
    ['closes', { label: 'Renamed' }],
  ],
  'DELETE /static-ip-rules/{id}': [['closes']],
  'POST /reviews': [['closes', { decisions: [{ kind: 'MEMBERSHIP', id: NOBODY, decision: 'REMOVE' }] }]],

  'POST /api-keys': [['opens', { name: 'pipeline', scopes: ['sessions:read'] }]],
  'DELETE /api-keys/{id}': [['closes']],

  'POST /oidc-trusts': [
    ['opens', { name: 'Deploy', conditions: { sub: ['job'] }, scopes: ['sessions:read'] }],
  ],
  'PATCH /oidc-trusts/{id}': [
    ['opens', { conditions: { sub: ['another job'] } }],
    ['opens', { scopes: ['sessions:read', 'sessions:write'] }],
    ['closes', { isEnabled: false }],
    ['closes', { name: 'Renamed' }],
  ],
  'DELETE /oidc-trusts/{id}': [['closes']],
  'POST /oidc-trusts/{id}/explain': [['closes', { idToken: 'no token' }]],

  'POST /webhooks': [['opens', { url: 'https://198.51.100.7/' }]],
  'PATCH /webhooks/{id}': [['closes', { isEnabled: false }]],
  'DELETE /webhooks/{id}': [['closes']],
  'POST /webhooks/{id}/rotate-secret': [['closes']],
  'POST /webhooks/{id}/test': [['closes']],
  'POST /webhooks/{id}/deliveries/{deliveryId}/redeliver': [['closes']],

  'POST /identity-providers': [
    [
      'opens',
      {
        name: 'Example',
        issuer: 'https://login.example.com',
        clientId: 'drawbridge',
        clientSecret: 'secret',
      },
    ],
  ],
  'PATCH /identity-providers/{id}': [['opens', { createUsers: false }]],
  'DELETE /identity-providers/{id}': [['closes']],
  'POST /identity-providers/{id}/test': [['opens']],
  'PUT /identity-providers/{id}/identities/{identityId}': [
    ['opens', { userId: '00000000-0000-4000-8000-000000000000' }],
  ],
  'DELETE /identity-providers/{id}/identities/{identityId}': [['closes']],

  'POST /organization/lockdown': [['closes', { reason: 'INC-12', staticRules: true }]],
  // what it would open again
  'DELETE /organization/lockdown': [['opens']],
  'POST /organization/delete': [['closes', {}]],
  'PATCH /organization': [['closes', { name: 'Renamed' }]],
  'PATCH /organization/settings': [['closes', { mfaRequired: false }]],
  'PATCH /organization/billing': [['closes', {}]],
  'POST /billing/subscribe': [['closes', {}]],
  'POST /billing/cancel': [['closes']],

  'POST /auth/change-password': [['closes', {}]],
  'POST /auth/step-up': [['closes', {}]],
  'DELETE /auth/sign-ins/{id}': [['closes']],
  'PATCH /users/me/notices': [['closes', { keyExpiring: false }]],
  'POST /mfa/setup': [['closes']],
  'POST /mfa/setup/confirm': [['closes', {}]],
  'POST /mfa/disable': [['closes', {}]],
  'POST /mfa/recovery-codes/regenerate': [['closes', {}]],

  'POST /agents/report': [['closes', {}]],
  'POST /agents/{name}/release': [['closes']],
};

const controllersOf = (module: Type): Type[] =>
  (Reflect.getMetadata('controllers', module) as Type[] | undefined) ?? [];
const isChange = ({ method, policy }: Route): boolean =>
  method !== 'GET' && policy?.kind !== 'public' && policy?.kind !== 'platform';
const changes = RESOURCE_MODULES.flatMap(controllersOf).flatMap(routesOf).filter(isChange);
const nameOf = ({ method, path }: Route): string => `${method} ${path.replace('/api/v1', '')}`;

const cases = changes.flatMap((route) =>
  (ROUTES[nameOf(route)] ?? []).map(
    ([effect, body]) => [nameOf(route), JSON.stringify(body ?? null), effect, route, body] as const,
  ),
);

describe('A suspended organization opens nothing and closes everything', () => {
  const drawbridge = Drawbridge.shared({ worker: false });
  const org = ownOrganization(drawbridge, [{ group: group(0) }]);
  let objects: MatrixObjects;
  let owner: Owner;
  let agent: ApiClient;

  beforeAll(async () => {
    agent = await org.apiKey(['agent:connect']);
    owner = { organizationId: org.organizationId, userId: org.adminId };
    objects = new MatrixObjects(drawbridge);
    await objects.prepare(owner);
    await drawbridge.query(
      'UPDATE roles SET max_session_duration_hours = 2, approvals = 1, require_reason = true WHERE organization_id = $1',
      [org.organizationId],
    );
    await org.suspend();
  });

  async function play(route: Route, body: object | undefined): Promise<Answer<{ message?: string } | null>> {
    const ids: Record<string, string> = {};
    for (const { parameter, collection } of objectsIn(route.path))
      ids[parameter] = await objects.make(collection!, owner);
    const path = pathWith(route.path.replace('/api/v1', ''), ids);
    const client = route.policy?.kind === 'key' ? agent : org.admin;
    switch (route.method) {
      case 'POST':
        return client.post(path, body);
      case 'PATCH':
        return client.patch(path, body ?? {});
      case 'PUT':
        return client.put(path, body);
      case 'DELETE':
        return client.delete(path);
      default:
        throw new Error(`${route.method} is new here: say how it is sent`);
    }
  }

  it('every route that changes something is listed in this test', () => {
    expect(changes.map(nameOf).toSorted()).toEqual(Object.keys(ROUTES).toSorted());
  });

  it.each(cases)('%s %s %s', async (_name, _body, effect, route, body) => {
    const { status, body: answer } = await play(route, body);
    const refused = status === 403 && /suspended/i.test(answer?.message ?? '');
    expect([status, refused]).toEqual([effect === 'opens' ? 403 : status, effect === 'opens']);
    expect(status).toBeLessThan(500);
  });
});
