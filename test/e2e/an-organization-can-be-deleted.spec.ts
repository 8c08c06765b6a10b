import { totpOf } from '../builders/accounts/accounts';
import { guardedHost } from '../builders/resources/agents';
import { colleague } from '../builders/accounts/colleague';
import { groupByTrust } from '../builders/sso/federated-identity';
import { REGISTERED } from '../builders/sso/identity-providers';
import { group, organization, type Organization, type ResourcePlan } from '../builders/accounts/organization';
import { asked, asks } from '../builders/requests/access-requests';
import { delivered, webhook } from '../builders/notices/webhooks';
import { type AdminRun, drawbridgeAdmin } from '../harness/product/admin';
import type { Answer } from '../harness/product/api-client';
import { Drawbridge } from '../harness/product/drawbridge';
import { freePort } from '../harness/network/free-port';
import { until } from '../harness/until';

interface Status {
  readonly status: string;
  readonly slug: string;
}
/** An organization whose admin has a second factor. */
interface Doomed {
  readonly org: Organization;
  readonly slug: string;
  readonly codes: string[];
}
type Refusal = Answer<{ message: string }>;

describe('An organization can be deleted', () => {
  let drawbridge: Drawbridge;
  let issuers: string;
  let operator: Organization;

  beforeAll(async () => {
    const port = String(await freePort());
    issuers = `http://localhost:${port}/oidc`;
    const issuer = { OIDC_ISSUER_URL: issuers };
    drawbridge = await Drawbridge.start({ worker: false, api: { PORT: port, ...issuer } });
    await drawbridge.startWorker(issuer);
    operator = await organization(drawbridge, []);
    await drawbridge.query(`UPDATE users SET platform_role = 'SUPER_ADMIN' WHERE id = $1`, [
      operator.adminId,
    ]);
  });
  afterAll(() => drawbridge.stop());

  async function doomed(plans: readonly ResourcePlan[]): Promise<Doomed> {
    const org = await organization(drawbridge, plans);
    const { admin } = org;
    const { secret } = await admin.expect(200, admin.post<{ secret: string }>('/mfa/setup'));
    const code = totpOf(secret).generate();
    const confirmed = admin.post<{ recoveryCodes: string[] }>('/mfa/setup/confirm', { code });
    const { recoveryCodes: codes } = await admin.expect(200, confirmed);
    return { org, slug: await org.slug(), codes };
  }

  const confirmed = ({ slug, codes }: Doomed): object => ({ confirmSlug: slug, code: codes.pop() });
  const deleted = async (doomedOne: Doomed): Promise<void> => {
    const { admin } = doomedOne.org;
    await admin.expect(200, admin.post('/organization/delete', confirmed(doomedOne)));
  };
  const shown = ({ organizationId }: Organization): Promise<Status> =>
    operator.admin.expect(200, operator.admin.get<Status>(`/platform/organizations/${organizationId}`));
  const reaches = (org: Organization, status: string): Promise<boolean> =>
    until(`the organization is ${status}`, async () => (await shown(org)).status === status);
  const issuerStatus = async ({ organizationId }: Organization): Promise<number> =>
    (await fetch(`${issuers}/${organizationId}/jwks`)).status;
  const rowsOf = async ({ organizationId }: Organization, table: string): Promise<number> =>
    (await drawbridge.query(`SELECT FROM ${table} WHERE organization_id = $1`, [organizationId])).length;

  it('only by its last administrator, with a second factor and its slug', async () => {
    const without = await organization(drawbridge, []);
    const slug = await without.slug();
    const refuse = (client: Organization, body: object): Promise<Refusal> =>
      client.admin.post<{ message: string }>('/organization/delete', body);
    const noFactor = await refuse(without, { confirmSlug: slug, code: '123456' });
    expect([noFactor.status, noFactor.body.message]).toEqual([403, expect.stringContaining('/mfa/setup')]);

    const one = await doomed([]);
    const wrongSlug = await refuse(one.org, { confirmSlug: 'another', code: one.codes[0] });
    expect([wrongSlug.status, wrongSlug.body.message]).toEqual([400, expect.stringContaining('confirmSlug')]);
    const wrong = await refuse(one.org, { confirmSlug: one.slug, code: '000000' });
    expect([wrong.status, wrong.body.message]).toEqual([400, expect.stringContaining('code')]);
    const { id, email } = await colleague(one.org);
    await one.org.admin.expect(200, one.org.admin.patch(`/users/${id}`, { isOrgAdmin: true }));
    const notLast = await refuse(one.org, confirmed(one));
    expect([notLast.status, notLast.body.message]).toEqual([400, expect.stringContaining(email)]);
    expect(await shown(one.org)).toMatchObject({ status: 'ACTIVE', slug: one.slug });
    await one.org.admin.expect(200, one.org.admin.patch(`/users/${id}`, { isOrgAdmin: false }));
    await deleted(one);
  });

  it('everything of it closes first, and it ends with its last rule: issuer, secrets and personal data go', async () => {
    const one = await doomed([{ group: group(1) }]);
    const { org } = one;
    await groupByTrust(org, group(2));
    const key = await org.apiKey(['sessions:read']);
    await org.opened({ ipv4Address: '203.0.113.10' });
    const rule = { label: 'Office', ipAddress: '203.0.113.11', resourceIds: org.resourceIds };
    await org.admin.expect(201, org.admin.post('/static-ip-rules', rule));
    await delivered(org, (await webhook(org, 'http://127.0.0.1:9/', { eventTypes: ['MFA_RESET'] })).id);
    await org.admin.created('/identity-providers', REGISTERED);
    const named = org.admin.patch('/organization', { recoveryAdministratorId: org.adminId });
    await org.admin.expect(200, named);
    await colleague(org);
    await asks(org, { approvals: 1, approverRoleIds: [org.roleId] });
    const { id: requestId } = await asked(org, org.admin);
    const open = async (target: string): Promise<number> => (await drawbridge.cloud.rules(target)).length;
    await until('all is open', async () => (await open(group(1))) === 2 && (await open(group(2))) === 1);
    await drawbridge.cloud.fault({
      kind: 'refuse',
      target: group(1),
      operation: 'RevokeSecurityGroupIngress',
    });
    // so that the removals need a new token
    await drawbridge.cloud.revokeTokens('AWS');
    await deleted(one);

    for (const table of ['webhooks', 'webhook_deliveries', 'identity_providers'])
      expect(await rowsOf(org, table)).toBe(0);
    const keepsSomebody = 'SELECT FROM organizations WHERE id = $1 AND recovery_administrator_id IS NOT NULL';
    expect(await drawbridge.query(keepsSomebody, [org.organizationId])).toEqual([]);
    const requests = await drawbridge.query('SELECT status FROM access_requests WHERE id = $1', [requestId]);
    expect(requests).toEqual([{ status: 'CANCELLED' }]);
    for (const table of ['webhooks', 'webhook_deliveries']) expect(await rowsOf(org, table)).toBe(0);
    for (const client of [org.admin, key]) expect((await client.get('/sessions')).status).toBe(401);
    const login = { email: org.adminEmail, password: 'whatever it was', organizationSlug: one.slug };
    expect((await drawbridge.api.post('/auth/login', login)).status).toBe(401);
    const again = { organizationName: one.slug, email: org.adminEmail, password: 'a password of 25 letters' };
    const anew = drawbridge.api.post<{ user: { organizationSlug: string } }>('/auth/register', again);
    expect((await drawbridge.api.expect(201, anew)).user.organizationSlug).toBe(one.slug);

    await until('what can close has closed', async () => (await open(group(2))) === 0);
    expect([await open(group(1)), await shown(org), await issuerStatus(org)]).toMatchObject([
      2,
      { status: 'TERMINATING' },
      200,
    ]);
    const path = `/platform/organizations/${org.organizationId}`;
    expect((await operator.admin.post(`${path}/reactivate`)).status).toBe(409);
    await drawbridge.cloud.clearFaults();
    await until('it is closed', async () => (await open(group(1))) === 0);
    await reaches(org, 'DELETED');

    expect(await issuerStatus(org)).toBe(404);
    for (const table of [
      'credentials',
      'data_keys',
      'resources',
      'recovery_codes',
      'api_keys',
      'access_requests',
    ])
      expect([table, await rowsOf(org, table)]).toEqual([table, 0]);
    const people = await drawbridge.query('SELECT FROM users WHERE email = $1 AND organization_id = $2', [
      org.adminEmail,
      org.organizationId,
    ]);
    expect(people).toEqual([]);
    const events = await drawbridge.query<{ kind: string }>(
      `SELECT event_type AS kind FROM audit_records WHERE organization_id = $1 AND event_type LIKE 'ORGANIZATION_%'
       ORDER BY sequence`,
      [org.organizationId],
    );
    expect(events.map(({ kind }) => kind)).toEqual([
      'ORGANIZATION_REGISTERED',
      'ORGANIZATION_UPDATED',
      'ORGANIZATION_DELETED',
      'ORGANIZATION_CLOSED',
    ]);
    const verified = await until('its trail is verified', async () => {
      const { code, stdout } = await verifyAudit((await shown(org)).slug);
      return code === 0 && stdout;
    });
    expect(verified).toContain(one.slug);
  });

  const verifyAudit = (slug: string): Promise<AdminRun> =>
    drawbridgeAdmin({ DATABASE_URL: drawbridge.databaseUrl }, ['audit', 'verify', '--organization', slug]);

  it('an agent removes what its host holds, and is refused afterwards', async () => {
    const one = await doomed([]);
    const host = await guardedHost(one.org, 'doomed-host');
    const agent = host.agent();
    await host.guardedBy(agent);
    const { id } = await one.org.started({ ipv4Address: '203.0.113.12' });
    expect((await agent.turn()).rules).toHaveLength(1);
    await one.org.reaches(id, 'ACTIVE');
    await deleted(one);
    await reaches(one.org, 'TERMINATING');
    expect((await agent.turn()).rules).toEqual([]);
    await reaches(one.org, 'DELETED');
    expect((await agent.ask()).status).toBe(401);
  });

  it('by a SUPER_ADMIN, who gives a reason', async () => {
    const org = await organization(drawbridge, []);
    const path = `/platform/organizations/${org.organizationId}/delete`;
    expect((await operator.admin.post(path, {})).status).toBe(400);
    const reason = { reason: 'Unpaid for a year' };
    const done = await operator.admin.expect(200, operator.admin.post<Status>(path, reason));
    expect(done.status).toBe('TERMINATING');
    expect((await org.admin.get('/organization')).status).toBe(401);
    expect((await operator.admin.post(path, reason)).status).toBe(200);
    const recorded = await drawbridge.query(
      `SELECT actor_email AS by, details->>'reason' AS reason FROM audit_records
       WHERE organization_id = $1 AND event_type = 'ORGANIZATION_DELETED'`,
      [org.organizationId],
    );
    expect(recorded).toEqual([{ by: operator.adminEmail, ...reason }]);
    await reaches(org, 'DELETED');
  });

  it('what is opened while it is deleted does not stay', async () => {
    const one = await doomed([{ group: group(3) }]);
    const { org } = one;
    const attempts = Array.from({ length: 8 }, (_, index) => [
      () => org.start({ ipv4Address: `203.0.113.${20 + index}` }),
      () => org.admin.post('/api-keys', { name: `key ${index}`, scopes: ['agent:connect'] }),
      () => org.admin.post('/users', { isService: true, name: `service ${index}`, roleIds: [org.roleId] }),
      () => org.admin.post('/credentials', { name: `${index}`, provider: 'AGENT', credentialType: 'AGENT' }),
      () =>
        org.admin.post('/static-ip-rules', {
          label: `${index}`,
          ipAddress: `203.0.113.${40 + index}`,
          resourceIds: org.resourceIds,
        }),
    ]).flat();
    const [answers] = await Promise.all([Promise.all(attempts.map((attempt) => attempt())), deleted(one)]);
    expect(answers.map(({ status }) => status).filter((status) => status === 500)).toEqual([]);
    // before it is closed: nobody of them can act meanwhile, but for the keeper of the agents' keys
    const active = await drawbridge.query(
      `SELECT name FROM users WHERE organization_id = $1 AND is_active AND name <> 'Agents'`,
      [org.organizationId],
    );
    expect(active).toEqual([]);
    await reaches(org, 'DELETED');
    expect(await drawbridge.cloud.rules(group(3))).toEqual([]);
    for (const table of ['api_keys', 'credentials', 'resources']) expect(await rowsOf(org, table)).toBe(0);
  });
});
