import { colleague, type Colleague } from '../builders/colleague';
import { group, ownOrganization, sshTo } from '../builders/organization';
import { webhook } from '../builders/webhooks';
import { Drawbridge } from '../harness/drawbridge';
import { Inbox } from '../harness/inbox';
import type { AppProcess } from '../harness/processes';
import { until } from '../harness/until';
import { WebhookReceiver } from '../harness/webhook-receiver';

/** Whoever must know of a removal that fails knows it so long after its time. */
const BOUND_SECONDS = 90;
/** A removal is moved so far into the past: what is left of the bound is waited for. */
const MOVED_SECONDS = 50;

describe('People are told by mail', () => {
  const drawbridge = Drawbridge.own({ worker: false });
  const org = ownOrganization(drawbridge, sshTo(3));
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
    await until('it looks for notices', async () => (await cursors()).length === 2);
  });
  beforeEach(() => {
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
  const allDue = (): Promise<object[]> =>
    drawbridge.query(
      'UPDATE notice_cursors SET due_at = now(), leased_until = now() WHERE due_at IS NOT NULL',
    );

  const mailTo = (email: string, text: string, withinMs?: number): Promise<string> =>
    until(
      `a mail to ${email} says ${text}`,
      async () => inbox.to(email).find((mail) => mail.includes(text)),
      withinMs,
    );

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
    const { id } = await org.started({ ipv4Address, resourceIds: [org.resourceIds[0]] });
    await org.reaches(id, 'ACTIVE');
    await failing(0);
    await org.admin.expect(200, org.admin.post(`/sessions/${id}/stop`));
    await refused(ipv4Address);
  };

  describe('administrators', () => {
    it('and webhooks within 90 seconds of a removal that keeps failing, with and without a holder', async () => {
      await webhook(org, receiver.url('/told'), { eventTypes: ['RULE_REVOCATION_OVERDUE'] });
      const { id } = await org.started({ ipv4Address: '203.0.113.1', resourceIds: [org.resourceIds[0]] });
      await org.reaches(id, 'ACTIVE');
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
      const left = (BOUND_SECONDS - MOVED_SECONDS) * 1000;
      const [held, orphan] = await Promise.all([
        mailTo(org.adminEmail, '203.0.113.1 is still open on resource-0', left),
        mailTo(second.email, '203.0.113.2 is still open on resource-1', left),
        until('the webhook is told', async () => receiver.at('/told').length === 2, left),
      ]);
      expect(held).toContain('From: Drawbridge <door@example.com>');
      expect(held).toContain('List-Unsubscribe: <https://door.example.com/account>');
      expect(held).toContain(`https://door.example.com/resources/${org.resourceIds[0]}`);
      expect(orphan).toContain('keeps trying');
      expect(inbox.to(member.email)).toEqual([]);
    });

    it('each, though the mail of one is not taken yet, and the others only once', async () => {
      await allDue();
      inbox.refusals.set(org.adminEmail, 450);
      await overdueSession('203.0.113.3');
      await mailTo(second.email, '203.0.113.3 is still open', 60_000);
      await until(
        'it waits',
        async () => (await cursors('NOT is_collected AND due_at > now()')).length === 1,
      );
      expect(inbox.to(org.adminEmail)).toEqual([]);
      inbox.refusals.clear();
      await allDue();
      await mailTo(org.adminEmail, '203.0.113.3 is still open');
      expect(inbox.to(second.email)).toHaveLength(1);
      expect(drawbridge.worker.output).toContain('A notice could not be mailed');
    });

    it('also when the worker is killed while it tells them', async () => {
      await allDue();
      inbox.hangs = true;
      await overdueSession('203.0.113.4');
      await until('it begins', async () => inbox.held > 0, 60_000);
      await drawbridge.worker.stop('SIGKILL');
      inbox.hangs = false;
      await drawbridge.query(`UPDATE notice_cursors SET leased_until = now()`);
      await drawbridge.query(`UPDATE sweeper_lease SET lease_until = now()`);
      await startWorker();
      expect(await mailTo(org.adminEmail, '203.0.113.4 is still open', 60_000)).toContain('tcp 22');
    });
  });

  it('administrators of what is refused, away or in order again, in one mail after five minutes', async () => {
    receiver.behaviours.set('/gone', 410);
    await webhook(org, receiver.url('/gone'));
    const fault = { kind: 'refuse', operation: 'DescribeSecurityGroups', target: group(2), count: 1 };
    await drawbridge.cloud.fault(fault);
    const recorded = async (result: string): Promise<void> => {
      await drawbridge.query('UPDATE resources SET verify_due_at = now() WHERE id = $1', [
        org.resourceIds[2],
      ]);
      const verified = `SELECT FROM audit_seals s JOIN audit_records r ON r.id = s.record_id
        WHERE r.event_type = 'RESOURCE_VERIFIED' AND r.actor_type = 'SYSTEM' AND r.result = $1`;
      await until(result, async () => (await drawbridge.query(verified, [result])).length === 1);
    };
    await recorded('FAILURE');
    await recorded('SUCCESS');
    const collecting = `is_collected AND due_at BETWEEN now() + interval '4 minutes' AND now() + interval '5 minutes'`;
    await until('they are collected', async () => (await cursors(collecting)).length === 1);
    expect(inbox.to(org.adminEmail)).toEqual([]);
    await allDue();
    const mail = await mailTo(org.adminEmail, 'A webhook was disabled');
    expect(mail).toContain('it answered 410');
    expect(mail).toContain('The resource resource-2 cannot be used');
    expect(mail).toContain('The resource resource-2 can be used again');
    expect(inbox.to(org.adminEmail)).toHaveLength(1);
    expect(inbox.to(member.email)).toEqual([]);
  });

  it('nothing is kept for them while there is no mail server', async () => {
    await drawbridge.worker.stop();
    const off = await drawbridge.startWorker();
    await until('nothing is kept', async () => (await cursors()).length === 0);
    await overdueSession('203.0.113.5');
    await until('it is recorded', async () => {
      const overdue = `SELECT FROM audit_seals s JOIN audit_records r ON r.id = s.record_id
        WHERE r.event_type = 'RULE_REVOCATION_OVERDUE' AND r.details->>'ipAddress' = '203.0.113.5'`;
      return (await drawbridge.query(overdue)).length === 1;
    });
    await off.stop();
    await startWorker();
    await until('it looks for notices', async () => (await cursors()).length === 2);
    await overdueSession('203.0.113.6');
    const mail = await mailTo(org.adminEmail, '203.0.113.6 is still open', 60_000);
    expect(mail).not.toContain('203.0.113.5');
  });
});
