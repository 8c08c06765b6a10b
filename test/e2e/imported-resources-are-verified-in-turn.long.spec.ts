import { group, organization } from '../builders/accounts/organization';
import { resourceBody } from '../builders/resources/resources';
import { Drawbridge } from '../harness/product/drawbridge';
import { until } from '../harness/until';

/** Of one account: half of its burst is enough for twelve, and its refill for five in two seconds. */
const RESOURCES = 40;
/** Less than what fails for a while is put off by. */
const PUT_OFF_MS = 100_000;

describe('Imported resources', () => {
  const drawbridge = Drawbridge.own({ simulator: { SIMULATOR_GROUPS: String(RESOURCES) } });

  beforeAll(() => drawbridge.startWorker());

  it('are verified one after the other as their account allows, none is put off for minutes', async () => {
    const org = await organization(drawbridge, []);
    const { admin } = org;
    const resources = Array.from({ length: RESOURCES }, (_, index) =>
      resourceBody(org, { name: `imported ${index}`, resourceIdentifier: group(index) }),
    );
    const { results } = await admin.posted<{ results: { id: string }[] }>('/resources/bulk', { resources });
    const resourceIds = results.map(({ id }) => id);
    await admin.posted('/resources/verify', { resourceIds });
    const verified = await until(
      'none waits',
      async () => {
        const rows = await drawbridge.query<{ isActive: boolean }>(
          'SELECT is_active AS "isActive" FROM resources WHERE write_verified',
        );
        return rows.length === RESOURCES && rows;
      },
      PUT_OFF_MS,
    );
    expect(verified.every(({ isActive }) => isActive)).toBe(true);
  });
});
