import { randomUUID } from 'node:crypto';
import { REQUEST_RECORDS, throughRequests } from '../../builders/requests/access-requests';
import { guardedHost } from '../../builders/resources/agents';
import { auditRecords, OF_MANY, WITHOUT_RECORD, type AuditRecord } from '../../builders/audit/audit-trail';
import { AccountOwner, mailedToken, type Login } from '../../builders/accounts/accounts';
import { BILLING_DETAILS } from '../../builders/billing/billing';
import { throughCompanySignIn } from '../../builders/sso/company-sign-in';
import { throughIdentityProviders } from '../../builders/sso/identity-providers';
import { githubTrust, jobClaims } from '../../builders/sso/oidc';
import { throughRoles } from '../../builders/accounts/role-changes';
import { REFUSED, throughCloudAccounts } from '../../builders/resources/cloud-accounts';
import { throughWebhooks } from '../../builders/notices/webhooks';
import { group, organization, SIMULATED_KEY, type Organization } from '../../builders/accounts/organization';
import type { Answer, ApiClient } from '../../harness/product/api-client';
import { documentedOperations } from '../../harness/contract/documented-operations';
import { Drawbridge } from '../../harness/product/drawbridge';
import { OidcIssuer } from '../../harness/issuers/oidc-issuer';

const PASSWORDS = ['First 1 of them', 'Second 1 of them', 'Third 1 of them', 'Fourth 1 of them'] as const;
const UUID = expect.stringMatching(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/) as string;
const EMAIL = expect.stringMatching(/@example\.com$/) as string;

/** Only operators read the records of an organization from then on, see an-organization-can-be-deleted.spec.ts. */
const ITS_LAST = ['POST /organization/delete', 'POST /platform/organizations/{id}/delete'];

describe('6 Events: every change is on record', () => {
  let drawbridge: Drawbridge;
  let issuer: OidcIssuer;
  let org: Organization;
  let admin: ApiClient;
  /** operation to the records that it left, oldest first */
  const left = new Map<string, AuditRecord[]>();
  let newest: string | undefined;

  const fresh = async (): Promise<AuditRecord[]> => {
    const records = await auditRecords(admin);
    const end = records.findIndex(({ id }) => id === newest);
    newest = records[0]!.id;
    return records.slice(0, end === -1 ? undefined : end).toReversed();
  };

  /** Does it, and notes which records are new. */
  const did = async <T = { id: string }>(operation: string, action: Promise<Answer<T>>): Promise<T> => {
    const { status, body } = await action;
    if (status >= 300) throw new Error(`${operation}: ${status} ${JSON.stringify(body)}`);
    left.set(operation, await fresh());
    return body;
  };

  beforeAll(async () => {
    issuer = await OidcIssuer.start();
    drawbridge = await Drawbridge.start({ worker: false, api: { OIDC_ISSUERS: issuer.url } });
    org = await organization(drawbridge, [{ group: group(0) }]);
    ({ admin } = org);
    left.set('POST /auth/register', (await auditRecords(admin)).slice(-1));
    await fresh();
    const person = await throughAccounts();
    await throughMfa(person);
    await throughResources();
    await throughRoles(org, person.id, did);
    await throughSessions();
    await throughRequests(org, did, fresh);
    await throughTrusts();
    await throughAgents();
    await throughWebhooks(org, did);
    await throughIdentityProviders(org, did);
    await throughCompanySignIn(org, did, fresh);
    await throughTheRest(person);
  });
  afterAll(async () => {
    await drawbridge.stop();
    await issuer.stop();
  });

  async function throughAccounts(): Promise<AccountOwner> {
    const { api } = drawbridge;
    const email = `${randomUUID()}@example.com`;
    const invited = await did<{ id: string; invitationUrl: string }>(
      'POST /users',
      admin.post('/users', { email }),
    );
    const again = await did<{ invitationUrl: string }>(
      'POST /users/{id}/resend-invitation',
      admin.post(`/users/${invited.id}/resend-invitation`),
    );
    const inviteToken = again.invitationUrl.split('/').at(-1);
    const [first, second, third, fourth] = PASSWORDS;
    await did('POST /auth/password-link', api.post('/auth/password-link', { token: inviteToken }));
    const login = await did<Login>(
      'POST /auth/set-password',
      api.post('/auth/set-password', { inviteToken, password: first }),
    );
    const person = new AccountOwner(drawbridge, email, first, login);
    await did('PATCH /users/{id}', admin.patch(`/users/${person.id}`, { name: 'Ada' }));
    await did('PATCH /users/me/notices', admin.patch('/users/me/notices', { agentAway: false }));
    const signedIn = await did<Login>('POST /auth/login', person.login());
    const { refreshToken } = await did<Login>(
      'POST /auth/refresh',
      api.post('/auth/refresh', { refreshToken: signedIn.refreshToken }),
    );
    await did('POST /auth/logout', api.post('/auth/logout', { refreshToken }));
    const [signIn] = await person.client.expect(200, person.client.get<{ id: string }[]>('/auth/sign-ins'));
    const other = person.as(await person.loggedIn());
    await fresh();
    await did('DELETE /auth/sign-ins/{id}', other.delete(`/auth/sign-ins/${signIn!.id}`));
    person.first = await person.loggedIn();
    await fresh();
    const change = { currentPassword: first, newPassword: second };
    await did('POST /auth/change-password', person.client.post('/auth/change-password', change));
    await api.expect(204, api.post('/auth/forgot-password', { email }));
    // recorded before it is mailed, after the response; the first two mails were invitations
    const token = await mailedToken(drawbridge, email, 3);
    left.set('POST /auth/forgot-password', await fresh());
    await did('POST /auth/reset-password', api.post('/auth/reset-password', { token, newPassword: third }));
    person.password = third;
    await drawbridge.query(`UPDATE users SET password_changed_at = now() - interval '2 days' WHERE id = $1`, [
      person.id,
    ]);
    const settings = { passwordExpirationDays: 1 };
    await did('PATCH /organization/settings', admin.patch('/organization/settings', settings));
    const { passwordChangeToken } = await person.loggedIn();
    await fresh();
    const expired = { passwordChangeToken, newPassword: fourth };
    await did('POST /auth/change-expired-password', api.post('/auth/change-expired-password', expired));
    person.password = fourth;
    return person;
  }

  async function throughAgents(): Promise<void> {
    const host = await guardedHost(org, 'db-host-1');
    const agent = host.agent();
    const { version } = await agent.fetched();
    await fresh();
    const confirmed = admin.post<{ id: string }>(`/resources/${host.resourceId}/confirm-guard`);
    await did('POST /resources/{id}/confirm-guard', confirmed);
    await did<{ version: string }>('POST /agents/report', agent.report(version, []));
    await did('POST /agents/{name}/release', admin.post('/agents/db-host-1/release'));
  }

  async function throughMfa(person: AccountOwner): Promise<void> {
    const client = person.as(await person.loggedIn());
    await fresh();
    await did('POST /mfa/setup', client.post('/mfa/setup'));
    await person.turnMfaOn(client);
    left.set('POST /mfa/setup/confirm', await fresh());
    const { recoveryCodes } = await did<{ recoveryCodes: string[] }>(
      'POST /mfa/recovery-codes/regenerate',
      client.post('/mfa/recovery-codes/regenerate', { code: person.recoveryCodes[0] }),
    );
    await did('POST /mfa/disable', client.post('/mfa/disable', { code: recoveryCodes[0] }));
    await person.turnMfaOn(client);
    const { mfaChallengeToken } = await person.loggedIn();
    await fresh();
    await did('POST /auth/verify-mfa', person.verify(mfaChallengeToken, person.recoveryCodes[0]!));
    await did('POST /auth/step-up', client.post('/auth/step-up', { code: person.recoveryCodes[1] }));
    await did('POST /users/{id}/password-link', admin.post(`/users/${person.id}/password-link`));
    await did('DELETE /users/{id}/sign-ins', admin.delete(`/users/${person.id}/sign-ins`));
    await did('POST /users/{id}/reset-mfa', admin.post(`/users/${person.id}/reset-mfa`));
  }

  async function throughResources(): Promise<void> {
    const key = { provider: 'AWS', credentialType: 'ACCESS_KEY', credentialData: SIMULATED_KEY };
    const credential = await did<{ id: string }>(
      'POST /credentials',
      admin.post('/credentials', { name: 'Another', ...key }),
    );
    const credentialPath = `/credentials/${credential.id}`;
    await did('PATCH /credentials/{id}', admin.patch(credentialPath, { name: 'Yet another' }));
    await did('POST /credentials/{id}/verify', admin.post(`${credentialPath}/verify`));
    await throughCloudAccounts(admin, fresh, did);
    const { id } = await did<{ id: string }>(
      'POST /resources',
      admin.post('/resources', {
        name: 'database',
        credentialId: credential.id,
        provider: 'AWS',
        resourceType: 'SECURITY_GROUP',
        resourceIdentifier: group(1),
        region: 'eu-central-1',
      }),
    );
    await did('PATCH /resources/{id}', admin.patch(`/resources/${id}`, { name: 'store' }));
    await did('POST /resources/{id}/verify', admin.post(`/resources/${id}/verify`));
    await did('POST /resources/{id}/reconcile', admin.post(`/resources/${id}/reconcile`));
    const office = { label: 'Office', ipAddress: '198.51.100.1', resourceIds: [id] };
    const rule = await did<{ id: string }>('POST /static-ip-rules', admin.post('/static-ip-rules', office));
    const rulePath = `/static-ip-rules/${rule.id}`;
    await did('PATCH /static-ip-rules/{id}', admin.patch(rulePath, { label: 'Branch' }));
    await did('DELETE /static-ip-rules/{id}', admin.delete(rulePath));
    await did('POST /resources/{id}/abandon', admin.post(`/resources/${id}/abandon`, { reason: 'closed' }));
    await did('DELETE /resources/{id}', admin.delete(`/resources/${id}`));
    // its row goes with its last rule, which a worker takes out
    await drawbridge.query('DELETE FROM resources WHERE id = $1', [id]);
    await did('DELETE /credentials/{id}', admin.delete(credentialPath));
  }

  async function throughSessions(): Promise<void> {
    const start = (ipv4Address: string): Promise<Answer<{ id: string }>> =>
      admin.post('/sessions', { ipv4Address, leaseSeconds: 300 });
    const { id } = await did('POST /sessions', start('203.0.113.1'));
    await did('POST /sessions/{id}/renew', admin.post(`/sessions/${id}/renew`));
    const extend = admin.post(`/sessions/${id}/extend`, { additionalHours: 1 });
    await did('POST /sessions/{id}/extend', extend);
    await did('POST /sessions/{id}/stop', admin.post(`/sessions/${id}/stop`));
    const other = await did('POST /sessions', start('203.0.113.2'));
    await did('POST /sessions/admin/{id}/stop', admin.post(`/sessions/admin/${other.id}/stop`));
  }

  async function throughTrusts(): Promise<void> {
    const trust = await githubTrust(org, issuer);
    left.set('POST /oidc-trusts', await fresh());
    const path = `/oidc-trusts/${trust.id}`;
    await did('PATCH /oidc-trusts/{id}', admin.patch(path, { name: 'Renamed' }));
    const idToken = await issuer.sign(jobClaims(issuer, trust.audience));
    await did('POST /oidc-trusts/{id}/explain', admin.post(`${path}/explain`, { idToken }));
    const exchange = { idToken, trustId: trust.id };
    await did('POST /auth/oidc/exchange', drawbridge.api.post('/auth/oidc/exchange', exchange));
    await did('DELETE /oidc-trusts/{id}', admin.delete(path));
  }

  async function throughTheRest(person: AccountOwner): Promise<void> {
    const body = { name: 'pipeline', scopes: ['sessions:read'] };
    const key = await did<{ id: string }>('POST /api-keys', admin.post('/api-keys', body));
    await did('DELETE /api-keys/{id}', admin.delete(`/api-keys/${key.id}`));
    await did('PATCH /organization', admin.patch('/organization', { name: 'Renamed' }));
    await did('PATCH /organization/billing', admin.patch('/organization/billing', BILLING_DETAILS));
    const plans = await admin.expect(200, admin.get<{ id: string; tier: string }[]>('/billing/plans'));
    const planId = plans.find(({ tier }) => tier === 'PAID')!.id;
    await did('POST /billing/subscribe', admin.post('/billing/subscribe', { planId }));
    await did('POST /billing/cancel', admin.post('/billing/cancel'));
    for (const path of [`/users/${person.id}/lockdown`, '/organization/lockdown']) {
      const operation = path.replace(person.id, '{id}');
      await did(`POST ${operation}`, admin.post(path, { reason: 'INC-12' }));
      await did(`DELETE ${operation}`, admin.delete(path));
    }
    await did('DELETE /users/{id}', admin.delete(`/users/${person.id}`));
    await drawbridge.query(`UPDATE users SET platform_role = 'SUPER_ADMIN' WHERE id = $1`, [org.adminId]);
    const platform = `/platform/organizations/${org.organizationId}`;
    const reason = { reason: 'Unpaid' };
    await did('POST /platform/organizations/{id}/suspend', admin.post(`${platform}/suspend`, reason));
    await did('POST /platform/organizations/{id}/reactivate', admin.post(`${platform}/reactivate`));
  }

  it('this test does every operation that changes something', async () => {
    const base = `http://127.0.0.1:${drawbridge.apiServer.port}/api/v1`;
    const changing = (await documentedOperations(base))
      .filter(({ method }) => method !== 'GET')
      .map(({ method, template }) => `${method} ${template}`);
    const unknown = changing.filter((operation) => !left.has(operation) && !WITHOUT_RECORD.has(operation));
    expect(unknown.toSorted()).toEqual([...ITS_LAST, ...OF_MANY].toSorted());
    expect(changing).toEqual(expect.arrayContaining([...WITHOUT_RECORD]));
  });

  it.each([
    ['POST /auth/register', 'ORGANIZATION_REGISTERED'],
    ['POST /auth/login', 'USER_LOGIN'],
    ['POST /auth/verify-mfa', 'USER_LOGIN'],
    ['POST /auth/sso/complete', 'USER_LOGIN'],
    ['POST /auth/logout', 'USER_LOGOUT'],
    ['DELETE /auth/sign-ins/{id}', 'SIGN_IN_ENDED'],
    ['POST /auth/change-password', 'PASSWORD_CHANGED'],
    ['POST /auth/change-expired-password', 'PASSWORD_CHANGED USER_LOGIN'],
    ['POST /auth/forgot-password', 'PASSWORD_RESET_REQUESTED'],
    ['POST /auth/reset-password', 'PASSWORD_RESET USER_LOGIN'],
    ['POST /auth/set-password', 'INVITATION_ACCEPTED USER_LOGIN'],
    ['POST /mfa/setup/confirm', 'MFA_ENABLED'],
    ['POST /mfa/disable', 'MFA_DISABLED'],
    ['POST /mfa/recovery-codes/regenerate', 'MFA_RECOVERY_CODES_REGENERATED'],
    ['POST /auth/step-up', 'SECOND_FACTOR_PROVEN'],
    ['POST /users', 'USER_CREATED'],
    ['POST /users/{id}/resend-invitation', 'INVITATION_SENT'],
    ['PATCH /users/{id}', 'USER_UPDATED'],
    ['PATCH /users/me/notices', 'USER_UPDATED'],
    ['POST /users/{id}/password-link', 'PASSWORD_RESET_REQUESTED'],
    ['DELETE /users/{id}/sign-ins', 'SIGN_IN_ENDED'],
    ['POST /users/{id}/reset-mfa', 'MFA_RESET'],
    ['POST /users/{id}/lockdown', 'USER_LOCKED_DOWN'],
    ['DELETE /users/{id}/lockdown', 'USER_LOCKDOWN_LIFTED'],
    ['DELETE /users/{id}', 'USER_DELETED'],
    ['POST /credentials', 'CREDENTIAL_CREATED'],
    ['PATCH /credentials/{id}', 'CREDENTIAL_UPDATED'],
    ['POST /credentials/{id}/verify', 'CREDENTIAL_VERIFIED'],
    ['POST /credentials/{id}/accounts/refresh', 'CREDENTIAL_UPDATED'],
    ['PATCH /credentials/{id}/accounts/{account}', 'CREDENTIAL_UPDATED'],
    ['POST /credentials/{id}/accounts/{account}/verify', 'CREDENTIAL_VERIFIED'],
    ['DELETE /credentials/{id}', 'CREDENTIAL_DELETED'],
    ['POST /resources', 'RESOURCE_CREATED'],
    ['PATCH /resources/{id}', 'RESOURCE_UPDATED'],
    ['POST /resources/{id}/verify', 'RESOURCE_VERIFIED'],
    ['POST /resources/{id}/reconcile', 'RESOURCE_RECONCILED'],
    ['POST /resources/{id}/abandon', 'RESOURCE_ABANDONED'],
    ['POST /resources/{id}/confirm-guard', 'RESOURCE_GUARD_CONFIRMED'],
    ['DELETE /resources/{id}', 'RESOURCE_DELETED'],
    ['POST /static-ip-rules', 'STATIC_IP_RULE_CREATED'],
    ['PATCH /static-ip-rules/{id}', 'STATIC_IP_RULE_UPDATED'],
    ['DELETE /static-ip-rules/{id}', 'STATIC_IP_RULE_DELETED'],
    ['POST /roles', 'ROLE_CREATED'],
    ['PATCH /roles/{id}', 'ROLE_UPDATED'],
    ['POST /roles/{id}/resources/{resourceId}', 'ROLE_RESOURCE_ASSIGNED'],
    ['DELETE /roles/{id}/resources/{resourceId}', 'ROLE_RESOURCE_UNASSIGNED'],
    ['POST /roles/{id}/users/{userId}', 'ROLE_USER_ASSIGNED'],
    ['DELETE /roles/{id}/users/{userId}', 'ROLE_USER_UNASSIGNED'],
    ['DELETE /roles/{id}', 'ROLE_DELETED'],
    ['POST /sessions', 'SESSION_STARTED'],
    ['POST /sessions/{id}/extend', 'SESSION_EXTENDED'],
    ['POST /sessions/{id}/stop', 'SESSION_STOPPED'],
    ['POST /sessions/admin/{id}/stop', 'SESSION_STOPPED'],
    ...REQUEST_RECORDS,
    ['POST /api-keys', 'API_KEY_CREATED'],
    ['DELETE /api-keys/{id}', 'API_KEY_REVOKED'],
    ['POST /agents/{name}/release', 'AGENT_RELEASED'],
    ['POST /identity-providers', 'IDENTITY_PROVIDER_CREATED'],
    ['PATCH /identity-providers/{id}', 'IDENTITY_PROVIDER_UPDATED'],
    ['POST /identity-providers/{id}/test', 'IDENTITY_PROVIDER_TESTED'],
    ['PUT /identity-providers/{id}/identities/{identityId}', 'IDENTITY_LINKED'],
    ['DELETE /identity-providers/{id}/identities/{identityId}', 'IDENTITY_UNLINKED'],
    ['DELETE /identity-providers/{id}', 'IDENTITY_PROVIDER_DELETED'],
    ['POST /webhooks', 'WEBHOOK_CREATED'],
    ['PATCH /webhooks/{id}', 'WEBHOOK_UPDATED'],
    ['POST /webhooks/{id}/rotate-secret', 'WEBHOOK_SECRET_ROTATED'],
    ['POST /webhooks/{id}/test', 'WEBHOOK_TESTED'],
    ['POST /webhooks/{id}/deliveries/{deliveryId}/redeliver', 'WEBHOOK_REDELIVERED'],
    ['DELETE /webhooks/{id}', 'WEBHOOK_DELETED'],
    ['PATCH /organization', 'ORGANIZATION_UPDATED'],
    ['POST /organization/lockdown', 'ORGANIZATION_LOCKED_DOWN'],
    ['DELETE /organization/lockdown', 'ORGANIZATION_LOCKDOWN_LIFTED'],
    ['PATCH /organization/settings', 'ORGANIZATION_SETTINGS_UPDATE'],
    ['PATCH /organization/billing', 'BILLING_DETAILS_UPDATED'],
    ['POST /billing/subscribe', 'SUBSCRIPTION_CREATED'],
    ['POST /billing/cancel', 'SUBSCRIPTION_EXPIRED'],
    ['POST /platform/organizations/{id}/suspend', 'ORGANIZATION_SUSPENDED'],
    ['POST /platform/organizations/{id}/reactivate', 'ORGANIZATION_REACTIVATED'],
  ])('%s: %s, of the person who did it', (operation, eventTypes) => {
    const records = left.get(operation)!;
    expect(records.map(({ eventType }) => eventType).join(' ')).toBe(eventTypes);
    for (const record of records) {
      const success = operation === REFUSED ? {} : { result: 'SUCCESS', errorMessage: null };
      expect(record).toMatchObject({ actorType: 'USER', ...success });
      expect(record).toMatchObject({ actorId: UUID, actorEmail: EMAIL, ipAddress: '127.0.0.1' });
      expect(record).toMatchObject({ resourceType: expect.any(String) as string, resourceId: UUID });
    }
  });

  it.each([...WITHOUT_RECORD].filter((operation) => !operation.includes('webhooks')))(
    '%s: none',
    (operation) => {
      expect(left.get(operation)).toEqual([]);
    },
  );
});
