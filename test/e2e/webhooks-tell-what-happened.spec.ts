import { WebhookVerificationError } from 'standardwebhooks';
import { auditRecords, type AuditRecord } from '../builders/audit/audit-trail';
import { organization, ownOrganization } from '../builders/accounts/organization';
import {
  attemptsDue,
  deliveriesOf,
  delivery,
  records,
  webhook,
  type Webhook,
} from '../builders/notices/webhooks';
import type { Answer } from '../harness/product/api-client';
import { Drawbridge } from '../harness/product/drawbridge';
import { until } from '../harness/until';
import { verify, WebhookReceiver } from '../harness/receivers/webhook-receiver';

describe('Webhooks tell what happened', () => {
  const drawbridge = Drawbridge.shared();
  const org = ownOrganization(drawbridge, []);
  let receiver: WebhookReceiver;

  beforeAll(async () => {
    receiver = await WebhookReceiver.start();
  });
  afterAll(() => receiver.stop());
  afterEach(() => drawbridge.query('DELETE FROM webhooks'));

  const shown = ({ id }: Webhook): Promise<Webhook> =>
    org.admin.expect(200, org.admin.get<Webhook>(`/webhooks/${id}`));
  const change = ({ id }: Webhook, body: object): Promise<Answer<Webhook>> =>
    org.admin.patch<Webhook>(`/webhooks/${id}`, body);
  const audited = (eventType: string): Promise<AuditRecord[]> =>
    auditRecords(org.admin, `?eventType=${eventType}`);

  describe('a receiver with the standard library', () => {
    it('accepts each record as the audit trail shows it, in order, once', async () => {
      const eventTypes = ['WEBHOOK_CREATED', 'ROLE_UPDATED'];
      const { secret } = await webhook(org, receiver.url('/order?key=of-the-receiver'), { eventTypes });
      await records(org, 120);
      const all = await receiver.atLeast(121, '/order?key=of-the-receiver');
      const told = all.map(
        (one) => verify(secret, one) as { type: string; timestamp: string; data: AuditRecord },
      );
      expect(told.map(({ data }) => data.resourceName).slice(1)).toEqual(
        Array.from({ length: 120 }, (_, index) => String(index)),
      );
      const [created] = await audited('WEBHOOK_CREATED');
      expect(told[0]).toEqual({ type: 'WEBHOOK_CREATED', timestamp: created!.timestamp, data: created });
      expect(all.map(({ id }) => id)).toEqual(told.map(({ data }) => data.id));
      // what is sent is not audited: it would be sent, too
      const about = await drawbridge.query(
        `SELECT FROM audit_records WHERE organization_id = $1 AND resource_type = 'WEBHOOK'`,
        [org.organizationId],
      );
      expect(about).toHaveLength(1);
    });

    it('accepts the former secret for a day after a rotation, and no longer', async () => {
      const { id, secret } = await webhook(org, receiver.url('/rotated'), { eventTypes: ['ROLE_UPDATED'] });
      const rotated = await org.admin.expect(200, org.admin.post<Webhook>(`/webhooks/${id}/rotate-secret`));
      expect(rotated.secret).toMatch(/^whsec_[\w+/]{43}=$/);
      await records(org, 1);
      const [during] = await receiver.atLeast(1, '/rotated');
      verify(secret, during!);
      verify(rotated.secret, during!);
      await drawbridge.query(
        `UPDATE webhooks SET former_secret_until = former_secret_until - interval '24 hours' WHERE id = $1`,
        [id],
      );
      await records(org, 1);
      const [, after] = await receiver.atLeast(2, '/rotated');
      expect(() => verify(secret, after!)).toThrow(WebhookVerificationError);
      verify(rotated.secret, after!);
    });
  });

  describe('what is sent', () => {
    it('has the Authorization header that a receiver demands, which nobody is shown and no other host gets', async () => {
      const authorization = 'Bearer of-the-receiver';
      const made = await webhook(org, receiver.url('/guarded'), {
        authorization,
        eventTypes: ['ROLE_CREATED'],
      });
      await org.admin.created('/roles', { name: 'Guarded' });
      const [sent] = await receiver.atLeast(1, '/guarded');
      expect(sent!.headers['authorization']).toBe(authorization);
      const seen = await shown(made);
      expect([seen, JSON.stringify([made, seen, await audited('WEBHOOK_CREATED')])]).toEqual([
        expect.objectContaining({ hasAuthorization: true }),
        expect.not.stringContaining('of-the-receiver'),
      ]);
      const elsewhere = { url: 'http://127.0.0.2:9/hook' };
      expect((await change(made, elsewhere)).status).toBe(400);
      expect((await change(made, { url: receiver.url('/moved') })).body).toMatchObject({
        hasAuthorization: true,
      });
      expect((await change(made, { ...elsewhere, authorization: null })).body).toMatchObject({
        hasAuthorization: false,
      });
      for (const unfit of ['', ' a', 'a\nb: c', 'é'])
        expect((await change(made, { authorization: unfit })).status).toBe(400);
    });

    it('is recorded and searched by the name of the webhook, which can be given, changed and taken back', async () => {
      const eventTypes = ['ROLE_UPDATED'];
      const named = await webhook(org, 'http://127.0.0.1:9/a', { name: ' Night shift ', eventTypes });
      const unnamed = await webhook(org, 'http://127.0.0.1:9/b', { name: null, eventTypes });
      expect([named, unnamed, (await change(unnamed, { name: 'Day shift' })).body]).toMatchObject([
        { name: 'Night shift' },
        { name: null },
        { name: 'Day shift' },
      ]);
      const listed = (query: string): Promise<Webhook[]> =>
        org.admin.expect(200, org.admin.get<Webhook[]>(`/webhooks?sort=name&${query}`));
      const ids = async (query: string): Promise<string[]> => (await listed(query)).map(({ id }) => id);
      expect(await ids('search=SHIFT')).toEqual([unnamed.id, named.id]);
      expect(await ids('search=1:9/a')).toEqual([named.id]);
      await change(named, { isEnabled: true });
      await change(named, { name: null });
      expect((await audited('WEBHOOK_UPDATED')).slice(0, 3)).toMatchObject([
        { resourceName: named.url, details: { changed: { name: { from: 'Night shift', to: null } } } },
        { resourceName: `Night shift (${named.url})`, details: { changed: {} } },
        { resourceName: `Day shift (${unnamed.url})` },
      ]);
      for (const name of ['', '  ', 'x'.repeat(101), 'a\nb', 7])
        expect((await change(named, { name })).status).toBe(400);
    });

    it('is what the webhook asks for, and its test', async () => {
      const { id } = await webhook(org, receiver.url('/some'), { eventTypes: ['ROLE_CREATED'] });
      await records(org, 60);
      await org.admin.created('/roles', { name: 'Operators' });
      await org.admin.expect(204, org.admin.post(`/webhooks/${id}/test`));
      await receiver.atLeast(2, '/some');
      expect(receiver.typesAt('/some')).toEqual(['ROLE_CREATED', 'WEBHOOK_TESTED']);
    });

    it('is a message for people in Slack and Teams, in which names are only names', async () => {
      const eventTypes = ['ROLE_CREATED'];
      await webhook(org, receiver.url('/slack'), { format: 'slack', eventTypes });
      const { url } = await webhook(org, receiver.url('/teams'), { format: 'teams', eventTypes });
      expect(url).toBe(receiver.url('/…'));
      await org.admin.created('/roles', {
        name: '<https://example.com|Click> & [here](https://example.com)',
      });
      const [slack] = await receiver.atLeast(1, '/slack');
      const [teams] = await receiver.atLeast(1, '/teams');
      expect(JSON.parse(slack!.body)).toMatchObject({
        text: `Role created by ${org.adminEmail} · &lt;https example.com|Click&gt; &amp; [here](https example.com)`,
        unfurl_links: false,
      });
      const run = (text: string, weight: string): object => ({
        type: 'RichTextBlock',
        inlines: [{ type: 'TextRun', text, weight }],
      });
      const text = `by ${org.adminEmail} · <https://example.com|Click> & [here](https://example.com)`;
      const content = { type: 'AdaptiveCard', body: [run('Role created', 'Bolder'), run(text, 'Default')] };
      const contentType = 'application/vnd.microsoft.card.adaptive';
      expect(JSON.parse(teams!.body)).toMatchObject({
        type: 'message',
        attachments: [{ contentType, content }],
      });
    });
  });

  describe('a receiver that fails', () => {
    it('gets the later records after the failed one, which they pass when it has failed three times', async () => {
      receiver.behaviours.set('/failing', 500);
      const failing = await webhook(org, receiver.url('/failing'), { eventTypes: ['ROLE_UPDATED'] });
      await records(org, 3);
      const first = await delivery(org, failing, ({ status }) => status === 'PENDING');
      expect(first).toMatchObject({ attempts: 1, responseCode: 500, error: 'it answered 500' });
      expect(await shown(failing)).toMatchObject({ lastError: 'it answered 500' });
      expect(JSON.stringify(await deliveriesOf(org, failing))).not.toContain('not shown');
      for (const attempts of [2, 3]) {
        await attemptsDue(drawbridge, failing);
        await delivery(org, failing, (one) => one.recordId === first.recordId && one.attempts === attempts);
      }
      await delivery(org, failing, ({ recordId }) => recordId !== first.recordId);
      receiver.behaviours.set('/failing', 204);
      await attemptsDue(drawbridge, failing);
      await until('all are delivered', async () => {
        const all = await deliveriesOf(org, failing);
        return all.length === 3 && all.every(({ status }) => status === 'DELIVERED');
      });
      const ids = receiver.at('/failing').map(({ id }) => id);
      expect(new Set(ids.slice(0, 3))).toEqual(new Set([first.recordId]));
      expect(ids[3]).not.toBe(first.recordId);
      expect(await shown(failing)).toMatchObject({ failingSince: null, lastError: null });
    });

    it('is tried again when it asks for that', async () => {
      receiver.behaviours.set('/busy', [429, { 'retry-after': '900' }]);
      const busy = await webhook(org, receiver.url('/busy'));
      const { dueAt } = await delivery(org, busy, ({ status }) => status === 'PENDING');
      expect(Date.parse(dueAt!) - Date.now()).toBeGreaterThan(800_000);
    });

    it('is disabled at once when it answers 410, and gets nothing of what happens until it is enabled', async () => {
      receiver.behaviours.set('/gone', 410);
      const gone = await webhook(org, receiver.url('/gone'));
      await until('it is disabled', async () => !(await shown(gone)).isEnabled);
      const [record] = await audited('WEBHOOK_DISABLED');
      expect(record).toMatchObject({
        resourceId: gone.id,
        errorMessage: 'it answered 410',
        actorType: 'SYSTEM',
      });
      expect(await deliveriesOf(org, gone)).toMatchObject([{ status: 'FAILED', attempts: 1 }]);
      receiver.behaviours.delete('/gone');
      expect((await org.admin.post(`/webhooks/${gone.id}/test`)).status).toBe(400);
      const other = await webhook(org, receiver.url('/beside'), { eventTypes: ['ROLE_UPDATED'] });
      await records(org, 1);
      await delivery(org, other, ({ status }) => status === 'DELIVERED');
      await org.admin.expect(200, change(gone, { isEnabled: true }));
      await org.admin.expect(204, org.admin.post(`/webhooks/${gone.id}/test`));
      await receiver.atLeast(3, '/gone');
      expect(receiver.typesAt('/gone').slice(1)).toEqual(['WEBHOOK_UPDATED', 'WEBHOOK_TESTED']);
    });

    it('is disabled after five days, and what it missed can be sent again', async () => {
      receiver.behaviours.set('/dead', 500);
      const dead = await webhook(org, receiver.url('/dead'));
      await delivery(org, dead, ({ attempts }) => attempts === 1);
      receiver.behaviours.set('/dead', 'drip');
      await drawbridge.query(`UPDATE webhooks SET failing_since = now() - interval '5 days' WHERE id = $1`, [
        dead.id,
      ]);
      await drawbridge.query(
        'UPDATE webhook_deliveries SET attempts = 12, due_at = now() WHERE webhook_id = $1',
        [dead.id],
      );
      await until('it is disabled', async () => !(await shown(dead)).isEnabled);
      const [missed] = await deliveriesOf(org, dead);
      expect(missed).toMatchObject({ status: 'FAILED', attempts: 13, responseCode: null, dueAt: null });
      expect((await audited('WEBHOOK_DISABLED'))[0]!.errorMessage).toMatch(
        /^for five days it did not answer/,
      );
      receiver.behaviours.delete('/dead');
      await org.admin.expect(200, change(dead, { isEnabled: true }));
      const again = `/webhooks/${dead.id}/deliveries/${missed!.id}/redeliver`;
      await org.admin.expect(204, org.admin.post(again));
      await delivery(org, dead, ({ id, status }) => id === missed!.id && status === 'DELIVERED');
    });

    it('gets what is sent again by hand once more, not for days', async () => {
      const again = await webhook(org, receiver.url('/again'), { eventTypes: ['WEBHOOK_CREATED'] });
      const { id } = await delivery(org, again, ({ status }) => status === 'DELIVERED');
      receiver.behaviours.set('/again', 500);
      await org.admin.expect(204, org.admin.post(`/webhooks/${again.id}/deliveries/${id}/redeliver`));
      const failed = await delivery(org, again, (one) => one.id === id && one.responseCode === 500);
      expect(failed).toMatchObject({ status: 'FAILED', dueAt: null });
    });
  });

  it('an organization whose receivers all hang does not keep another one waiting', async () => {
    const paths = Array.from({ length: 20 }, (_, index) => `/hangs/${index}`);
    for (const path of paths) receiver.behaviours.set(path, 'hang');
    for (const path of paths) await webhook(org, receiver.url(path));
    await receiver.atLeast(1, '/hangs/0');
    const neighbour = await organization(drawbridge, []);
    const quick = await webhook(neighbour, receiver.url('/quick'));
    await delivery(neighbour, quick, ({ status }) => status === 'DELIVERED');
    const hanging = await drawbridge.query(
      'SELECT FROM webhooks WHERE leased_until > now() AND organization_id = $1',
      [org.organizationId],
    );
    expect(hanging.length).toBeGreaterThan(0);
    // of 24 slots
    expect(hanging.length).toBeLessThanOrEqual(12);
  });

  it.each([
    ['a metadata service', 'http://169.254.169.254/latest/meta-data/'],
    ['an address with a user', 'https://user:secret@hooks.example.com/'],
  ])('%s is refused as a URL', async (_, url) => {
    const { status, body } = await org.admin.post<{ validationErrors: object }>('/webhooks', { url });
    expect([status, Object.keys(body.validationErrors)]).toEqual([400, ['url']]);
  });

  it('an organization has twenty webhooks at most, of known event types', async () => {
    const url = receiver.url('/many');
    const unknown = { url, eventTypes: ['SESSION_STARTET'] };
    expect((await org.admin.post('/webhooks', unknown)).status).toBe(400);
    const answers = await Promise.all(Array.from({ length: 22 }, () => org.admin.post('/webhooks', { url })));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(20);
  });
});
