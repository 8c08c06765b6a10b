import { group, organization } from '../builders/accounts/organization';
import { Drawbridge } from '../harness/product/drawbridge';
import { until } from '../harness/until';

/** Of one account: half of its burst is enough for twelve, and its refill for five in two seconds. */
const RESOURCES = 40;

describe('Imported resources', () => {
  const drawbridge = Drawbridge.own({ simulator: { SIMULATOR_GROUPS: String(RESOURCES) } });

  beforeAll(() => drawbridge.startWorker());

  it('are verified one after the other as their account allows, none is put off for minutes', async () => {
    const { admin, credentialId } = await organization(drawbridge, []);
    const resources = Array.from({ length: RESOURCES }, (_, index) => ({
      name: `imported ${index}`,
      provider: 'AWS',
      resourceType: 'SECURITY_GROUP',
      resourceIdentifier: group(index),
      region: 'eu-central-1',
      credentialId,
      config: { port: 22 },
    }));
    const { results } = await admin.expect(
      200,
      admin.post<{ results: { id: string }[] }>('/resources/bulk', { resources }),
    );
    const resourceIds = results.map(({ id }) => id);
    await admin.expect(200, admin.post('/resources/verify', { resourceIds }));
    await until('all are verified', async () => {
      const [row] = await drawbridge.query<{ waiting: number }>(
        'SELECT count(*)::int AS waiting FROM resources WHERE NOT write_verified',
      );
      return row!.waiting === 0;
    });
  });
});
