import type { AuditRecord } from '../builders/audit/audit-trail';
import { ownOrganization } from '../builders/accounts/organization';
import { delivery, records, webhook } from '../builders/notices/webhooks';
import { Drawbridge } from '../harness/product/drawbridge';
import { until } from '../harness/until';
import { WebhookReceiver } from '../harness/receivers/webhook-receiver';

const KILLS = Number(process.env['KILLS'] ?? 3);
const RECORDS_PER_KILL = 200;

describe('A worker that is killed while it sends webhooks loses nothing', () => {
  const drawbridge = Drawbridge.shared({ worker: false });
  const org = ownOrganization(drawbridge, []);
  let receiver: WebhookReceiver;

  beforeAll(async () => {
    receiver = await WebhookReceiver.start();
  });
  afterAll(() => receiver.stop());

  it(
    'each record arrives, in order',
    async () => {
      const count = KILLS * RECORDS_PER_KILL;
      await webhook(org, receiver.url('/'), { eventTypes: ['ROLE_UPDATED'] });
      await records(org, count);
      for (let kill = 0; kill < KILLS; kill += 1) {
        const worker = await drawbridge.startWorker();
        await receiver.atLeast(receiver.received.length + 1 + Math.random() * RECORDS_PER_KILL, '/');
        await worker.stop('SIGKILL');
        // its lease runs out
        await drawbridge.query('UPDATE webhooks SET leased_until = now()');
      }
      await drawbridge.startWorker();
      const all = await until('all have arrived', async () => {
        const told = new Set(receiver.at('/').map(({ body }) => body));
        return told.size === count && [...told];
      });
      const names = all.map((body) => (JSON.parse(body) as { data: AuditRecord }).data.resourceName);
      expect(names).toEqual(Array.from({ length: count }, (_, index) => String(index)));
    },
    1_800_000 + KILLS * 10_000,
  );

  it('and sends to no address that the deployment does not allow any more', async () => {
    await drawbridge.worker.stop();
    const { id } = await webhook(org, receiver.url('/forbidden'));
    await drawbridge.startWorker({ TENANT_URL_NETWORKS: '' });
    const { error } = await delivery(org, { id }, () => true);
    expect(error).toBe('it leads to an address that this deployment lets no webhook lead to');
    expect(receiver.at('/forbidden')).toEqual([]);
  });
});
