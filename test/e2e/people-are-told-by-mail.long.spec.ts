import { asked, asks, REASON } from '../builders/requests/access-requests';
import { allSealed } from '../builders/audit/audit-trail';
import { colleague, type Colleague } from '../builders/accounts/colleague';
import { exchange, githubTrust, jobClaims } from '../builders/sso/oidc';
import { group, ownOrganization, sshTo } from '../builders/accounts/organization';
import { webhook } from '../builders/notices/webhooks';
import type { ApiClient, Session } from '../harness/product/api-client';
import { Drawbridge } from '../harness/product/drawbridge';
import { Inbox } from '../harness/receivers/inbox';
import { OidcIssuer } from '../harness/issuers/oidc-issuer';
import type { AppProcess } from '../harness/product/processes';
import { until } from '../harness/until';
import { WebhookReceiver } from '../harness/receivers/webhook-receiver';

/** A removal is moved so far into the past: it is reported a minute after its time. */
const MOVED_SECONDS = 54;

describe('People are told by mail', () => {
  let issuer: OidcIssuer;
  beforeAll(async () => {
    issuer = await OidcIssuer.start();
  });
  afterAll(() => issuer.stop());
  const drawbridge = Drawbridge.own({
    worker: false,
    api: {
      get OIDC_ISSUERS() {
        return issuer.url;
      },
    },
  });
  const org = ownOrganization(drawbridge, sshTo(4));
  let inbox: Inbox;
  let receiver: WebhookReceiver;
  let member: Colleague;
  let second: Colleague;

  const startWorker = (): Promise<AppProcess> =>
    drawbridge.startWorker({
      SMTP_URL: inbox.url,
      MAIL_FROM: 'Drawbridge <door@example.com>',
      SMTP_REQUIRE_TLS: 'false',
      PUBLIC_URL: 'https://door.example.com/',
    });

  beforeAll(async () => {
    [inbox, receiver] = await Promise.all([Inbox.open(), WebhookReceiver.start()]);
    await startWorker();
    member = await colleague(org);
    second = await colleague(org);
    await drawbridge.query('UPDATE users SET is_org_admin = true WHERE id = $1', [second.id]);
    await until('it looks for notices', async () => (await cursors()).length === 3);
  });
  beforeEach(async () => {
    await allDue();
    inbox.mails.length = 0;
  });
  afterAll(async () => {
    await receiver.stop();
    await inbox.close();
  });

  const cursors = (where = 'true'): Promise<object[]> =>
    drawbridge.query(`SELECT FROM notice_cursors WHERE organization_id = $1 AND ${where}`, [
      org.organizationId,
    ]);
  /** Nobody is being told, and what waits is told now. */
  const allDue = async (): Promise<void> => {
    await until('nobody is being told', async () => (await cursors('leased_until > now()')).length === 0);
    await drawbridge.query('UPDATE notice_cursors SET due_at = now() WHERE due_at IS NOT NULL');
  };

  const mailTo = (email: string, text: string): Promise<string> =>
    until(`a mail to ${email} says ${text}`, async () => inbox.to(email).find((mail) => mail.includes(text)));

  /** Removals are refused, and these are late. */
  const refused = async (...addresses: string[]): Promise<void> => {
    const isUnwanted = `address = ANY ($1) AND unwanted_since IS NOT NULL`;
    const given = [addresses.map((address) => `${address}/32`)];
    await until(
      'they are to be removed',
      async () =>
        (await drawbridge.query(`SELECT FROM rules WHERE ${isUnwanted} AND last_error IS NOT NULL`, given))
          .length === addresses.length,
    );
    await drawbridge.query(
      `UPDATE rules SET unwanted_since = now() - interval '${MOVED_SECONDS} seconds' WHERE ${isUnwanted}`,
      given,
    );
  };

  const failing = (index: number): Promise<void> =>
    drawbridge.cloud.fault({
      kind: 'refuse',
      target: group(index),
      operation: 'RevokeSecurityGroupIngress',
    });

  /** A session that cannot be removed. */
  const overdueSession = async (ipv4Address: string): Promise<void> => {
    const { id } = await org.opened({ ipv4Address, resourceIds: [org.resourceIds[0]] });
    await failing(0);
    await org.admin.expect(200, org.admin.post(`/sessions/${id}/stop`));
    await refused(ipv4Address);
  };

  describe('administrators', () => {
    it('and webhooks of a removal that keeps failing, with and without a holder', async () => {
      await webhook(org, receiver.url('/told'), { eventTypes: ['RULE_REVOCATION_OVERDUE'] });
      const { id } = await org.opened({ ipv4Address: '203.0.113.1', resourceIds: [org.resourceIds[0]] });
      await failing(0);
      await failing(1);
      await org.admin.expect(200, org.admin.post(`/sessions/${id}/stop`));
      await drawbridge.cloud.addUnmanaged({
        target: group(1),
        address: '203.0.113.2',
        protocol: 'tcp',
        fromPort: 22,
        toPort: 22,
        description: 'drawbridge:test:00000000-0000-4000-8000-000000000001:1700000000',
      });
      await org.admin.posted(`/resources/${org.resourceIds[1]}/reconcile`);
      await refused('203.0.113.1', '203.0.113.2');
      const [held, orphan] = await Promise.all([
        mailTo(org.adminEmail, '203.0.113.1 is still open on resource-0'),
        mailTo(second.email, '203.0.113.2 is still open on resource-1'),
        until('the webhook is told', async () => receiver.at('/told').length === 2),
      ]);
      expect(held).toContain('From: Drawbridge <door@example.com>');
      expect(held).toContain('List-Unsubscribe: <https://door.example.com/account>');
      expect(held).toContain(`https://door.example.com/resources/${org.resourceIds[0]}`);
      expect(orphan).toContain('keeps trying');
      for (const [mail, index] of [
        [held, 0],
        [orphan, 1],
      ] as const)
        expect(mail).toMatch(new RegExp(`by hand: sgr-\\w+ in ${group(index)}`));
      expect(inbox.to(member.email)).toEqual([]);
    });

    it('each, though the mail of one is not taken yet, and the others only once', async () => {
      inbox.refusals.set(org.adminEmail, 450);
      await overdueSession('203.0.113.3');
      await mailTo(second.email, '203.0.113.3 is still open');
      await until('it waits', async () => (await cursors("kind = 'URGENT' AND due_at > now()")).length === 1);
      expect(inbox.to(org.adminEmail)).toEqual([]);
      inbox.refusals.clear();
      await allDue();
      await mailTo(org.adminEmail, '203.0.113.3 is still open');
      const told = inbox.to(second.email).filter((mail) => mail.includes('203.0.113.3 is still open'));
      expect(told).toHaveLength(1);
      expect(drawbridge.worker.output).toContain('A notice could not be mailed');
    });

    it('also when the worker ends, at once, or is killed while it tells them', async () => {
      inbox.hangs = true;
      await overdueSession('203.0.113.4');
      await until('it begins', async () => inbox.held > 0);
      // the mail still hangs
      await drawbridge.worker.stop();
      const another = await startWorker();
      await until('it begins again', async () => inbox.held > 1);
      await another.stop('SIGKILL');
      inbox.hangs = false;
      await drawbridge.query(`UPDATE notice_cursors SET leased_until = now()`);
      await drawbridge.query(`UPDATE sweeper_lease SET lease_until = now()`);
      await startWorker();
      expect(await mailTo(org.adminEmail, '203.0.113.4 is still open')).toContain('tcp 22');
    });
  });

  describe('who holds access', () => {
    const startedBy = async ({ client }: Colleague, ipv4Address: string): Promise<string> =>
      (await client.posted<Session>('/sessions', { ipv4Address, resourceIds: [org.resourceIds[1]] })).id;

    it('and webhooks once before it ends, and again after an extension', async () => {
      await webhook(org, receiver.url('/ending'), { eventTypes: ['SESSION_EXPIRING'] });
      const id = await startedBy(member, '203.0.113.10');
      const soon = (): Promise<void> => org.expire(id, 9 * 60_000);
      const toldTimes = (times: number) => async (): Promise<boolean> =>
        inbox.to(member.email).length === times && receiver.at('/ending').length === times;
      await soon();
      await until('he is told', toldTimes(1));
      const [mail] = inbox.to(member.email);
      expect(mail).toContain('Your access from 203.0.113.10 ends at');
      expect(mail).toContain('resource-1');
      expect(mail).toContain(`https://door.example.com/sessions/${id}`);
      await member.client.expect(200, member.client.post(`/sessions/${id}/extend`, { additionalHours: 1 }));
      await soon();
      await allDue();
      await until('he is told again', toldTimes(2));
      expect(inbox.to(org.adminEmail)).toEqual([]);
    });

    it('when somebody else ended it, and unless it is switched off', async () => {
      const stopped = async (path: string, by: ApiClient): Promise<void> =>
        void (await by.expect(200, by.post(`/sessions/${path}/stop`)));
      const change = { sessionStopped: false };
      await second.client.expect(200, second.client.patch('/users/me/notices', change));
      await stopped(await startedBy(member, '203.0.113.11'), member.client);
      await stopped(`admin/${await startedBy(second, '203.0.113.12')}`, org.admin);
      await stopped(`admin/${await startedBy(member, '203.0.113.13')}`, org.admin);
      await mailTo(member.email, `Your access from 203.0.113.13 was ended by ${org.adminEmail}`);
      expect(inbox.to(member.email)).toHaveLength(1);
      expect(inbox.to(second.email)).toEqual([]);
    });
  });

  describe('of access that others approve:', () => {
    it('those who decide at once, then the requester and the others of what came of it', async () => {
      await asks(org, { approvals: 1 });
      const approved = await asked(org, member.client, { ipv4Address: '203.0.113.20' });
      const link = `https://door.example.com/requests/${approved.id}`;
      const mail = await mailTo(second.email, `${member.email} asks for access: you may decide`);
      for (const text of [link, REASON, 'resource-0', '203.0.113.20']) expect(mail).toContain(text);
      await mailTo(org.adminEmail, 'you may decide');
      expect(inbox.to(member.email)).toEqual([]);
      await allDue();
      await org.admin.expect(200, org.admin.post(`/access-requests/${approved.id}/approve`));
      const expired = await asked(org, member.client, { ipv4Address: '203.0.113.21' });
      await drawbridge.query('UPDATE access_requests SET due_at = now() WHERE id = $1', [expired.id]);
      await mailTo(member.email, `approved: handled by ${org.adminEmail}`);
      await mailTo(second.email, `approved: handled by ${org.adminEmail}`);
      await mailTo(member.email, 'not decided in time');
      expect(inbox.to(org.adminEmail).join('\n')).not.toContain('handled by');
      await asks(org, { approvals: 0 });
    });

    it('administrators at once of lockdowns and of access without approval', async () => {
      const lockdown = `/users/${member.id}/lockdown`;
      await org.admin.expect(200, org.admin.post(lockdown, { reason: 'A lost laptop' }));
      await mailTo(org.adminEmail, `${member.email} is locked down by ${org.adminEmail}`);
      await second.client.expect(204, second.client.delete(lockdown));
      await mailTo(org.adminEmail, `${second.email} lifted the lockdown of ${member.email}`);
      expect(inbox.to(member.email).join('\n')).not.toContain('lockdown');
      await asks(org, { approvals: 1, mayBreakGlass: true });
      await drawbridge.query('UPDATE refresh_tokens SET stepped_up_at = now() WHERE user_id = $1', [
        member.id,
      ]);
      const glass = { ipv4Address: '203.0.113.22', reason: REASON, breakGlass: true };
      const { accessRequestId } = await member.client.posted<{ accessRequestId: string }>('/sessions', glass);
      const mail = await mailTo(second.email, `${member.email} opened access without approval`);
      expect(mail).toContain(`https://door.example.com/requests/${accessRequestId}`);
      await asks(org, { approvals: 0, mayBreakGlass: false });
    });
  });

  it('administrators of what is refused, away or in order again, in one mail after five minutes', async () => {
    receiver.behaviours.set('/gone', 410);
    await webhook(org, receiver.url('/gone'));
    const refuse = (index: number, operation: string): Promise<void> =>
      drawbridge.cloud.fault({ kind: 'refuse', operation, target: group(index) });
    const [, , verified, compared] = org.resourceIds;
    const recorded = async (result: string): Promise<void> => {
      await drawbridge.query('UPDATE resources SET verify_due_at = now() WHERE id = $1', [verified]);
      await org.admin.posted(`/resources/${compared}/reconcile`);
      await sealed('RESOURCE_VERIFIED', { by: 'SYSTEM', result, resourceId: verified });
      await sealed('RESOURCE_RECONCILED', { by: 'SYSTEM', result, resourceId: compared });
    };
    await refuse(2, 'DescribeSecurityGroups');
    await refuse(3, 'DescribeSecurityGroupRules');
    await Promise.all([recorded('FAILURE'), keyThatEnds(), refusedJobs()]);
    await drawbridge.cloud.clearFaults();
    await recorded('SUCCESS');
    const collecting = `kind = 'COLLECTED' AND due_at BETWEEN now() + interval '4 minutes' AND now() + interval '5 minutes'`;
    await until('they are collected', async () => (await cursors(collecting)).length === 1);
    expect(inbox.to(org.adminEmail)).toEqual([]);
    await allDue();
    const mail = await mailTo(org.adminEmail, 'A webhook was disabled');
    expect(mail).toContain('it answered 410');
    expect(mail).toContain('The resource resource-2 cannot be used');
    expect(mail).toContain('The resource resource-2 can be used again');
    expect(mail).toMatch(
      /The rules of resource-3 need you\n.*could not be read[^]*of resource-3 are in order again/,
    );
    expect(mail).toContain('The API key pipeline ends soon');
    expect(mail.split('A CI job was refused by the trust Deploy').length - 1).toBe(1);
    expect(inbox.to(org.adminEmail)).toHaveLength(1);
    expect(inbox.to(member.email)).toEqual([]);
  });

  /** A key in the last of its seven days. */
  const keyThatEnds = async (): Promise<void> => {
    await org.apiKey(['sessions:read']);
    await drawbridge.query(
      `UPDATE api_keys SET created_at = now() - interval '90 days', expires_at = now() + interval '6 days'`,
    );
    await sealed('API_KEY_EXPIRING', { by: 'SYSTEM', result: 'SUCCESS' });
  };

  /** Two jobs that a trust refuses. */
  const refusedJobs = async (): Promise<void> => {
    const trust = await githubTrust(org, issuer);
    for (const ref of ['refs/heads/one', 'refs/heads/two']) {
      const idToken = await issuer.sign({ ...jobClaims(issuer, trust.audience), ref });
      expect((await exchange(drawbridge, idToken)).status).toBe(401);
    }
    await sealed('OIDC_EXCHANGE_REFUSED', { by: 'USER', result: 'FAILURE', times: 2 });
  };

  /** @param record `resourceId`: of this resource; left out: of any */
  const sealed = (
    type: string,
    {
      by,
      result,
      resourceId,
      times = 1,
    }: { by: string; result: string; resourceId?: string | undefined; times?: number },
  ): Promise<unknown> =>
    until(`${type} ${result}`, async () => {
      const found = await drawbridge.query(
        `SELECT FROM audit_seals s JOIN audit_records r ON r.id = s.record_id
         WHERE r.event_type = $1 AND r.actor_type = $2 AND r.result = $3
           AND ($4::uuid IS NULL OR r.resource_id = $4)`,
        [type, by, result, resourceId ?? null],
      );
      return found.length === times;
    });

  it('nothing is kept for them while there is no mail server', async () => {
    const endedByAdmin = async (ipv4Address: string): Promise<void> => {
      const { id } = await member.client.posted<Session>('/sessions', { ipv4Address });
      await org.admin.expect(200, org.admin.post(`/sessions/admin/${id}/stop`));
    };
    await drawbridge.worker.stop();
    const off = await drawbridge.startWorker();
    await until('nothing is kept', async () => (await cursors()).length === 0);
    await endedByAdmin('203.0.113.5');
    await allSealed(drawbridge);
    await off.stop();
    await startWorker();
    await until('it looks for notices', async () => (await cursors()).length === 3);
    await endedByAdmin('203.0.113.6');
    await mailTo(member.email, '203.0.113.6 was ended by');
    expect(inbox.to(member.email)).toHaveLength(1);
  });
});
