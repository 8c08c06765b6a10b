import {
  group,
  organization,
  ownOrganization,
  type Organization,
} from '../../builders/accounts/organization';
import type { Page } from '../../builders/contract/page';
import { Drawbridge } from '../../harness/product/drawbridge';

interface HealthEvent {
  readonly id: string;
  readonly resourceId: string;
  readonly resourceName: string;
  readonly eventType: string;
  readonly message: string | null;
  readonly createdAt: string;
}

describe('4.9 Resource health', () => {
  const drawbridge = Drawbridge.shared({ worker: false });
  const org = ownOrganization(drawbridge);

  const events = (by: Organization, query = ''): Promise<Page<HealthEvent>> =>
    by.admin.expect(200, by.admin.get<Page<HealthEvent>>(`/resource-health/events${query}`));

  /** An organization with a resource and this many events of it, the newest named last. */
  const withEvents = async (count: number): Promise<Organization> => {
    const made = await organization(drawbridge);
    await drawbridge.query(
      `INSERT INTO resource_health_events (organization_id, resource_id, event_type, message, created_at)
       SELECT $1, $2, 'RECONCILE_FAILED', 'event ' || n, now() + make_interval(secs => n)
       FROM generate_series(1, $3::int) n`,
      [made.organizationId, made.resourceIds[0], count],
    );
    return made;
  };

  it('a verification that succeeds is a VERIFY_OK without a message; page is 0 and size 20 unless they are given', async () => {
    const page = await events(org);
    expect(page).toMatchObject({ number: 0, size: 20, first: true, last: true });
    const [resourceId] = org.resourceIds;
    expect(page.content).toMatchObject([
      { resourceId, resourceName: 'resource-0', eventType: 'VERIFY_OK', message: null },
    ]);
  });

  it('a verification that fails is a VERIFY_FAILED with the provider’s message', async () => {
    const own = await organization(drawbridge, [{ group: group(2) }]);
    await drawbridge.cloud.fault({ kind: 'refuse', target: group(2), count: 1 });
    expect((await own.admin.post(`/resources/${own.resourceIds[0]}/verify`)).status).toBe(400);
    const [newest] = (await events(own)).content;
    expect(newest).toMatchObject({
      eventType: 'VERIFY_FAILED',
      message: expect.stringMatching(/not authorized/i) as string,
    });
  });

  it('pages are counted from 0, newest first, and every event is on one of them', async () => {
    const own = await withEvents(6);
    const pages = await Promise.all([0, 1, 2, 3].map((page) => events(own, `?page=${page}&size=3`)));
    expect(pages.map(({ content }) => content.map(({ message }) => message))).toEqual([
      ['event 6', 'event 5', 'event 4'],
      ['event 3', 'event 2', 'event 1'],
      [null],
      [],
    ]);
    expect(pages.map(({ first, last, numberOfElements }) => [first, last, numberOfElements])).toEqual([
      [true, false, 3],
      [false, false, 3],
      [false, true, 1],
      [false, true, 0],
    ]);
  });

  it('events of one moment are on one page each, too', async () => {
    const own = await withEvents(30);
    await drawbridge.query(
      'UPDATE resource_health_events SET created_at = now() WHERE organization_id = $1',
      [own.organizationId],
    );
    const pages = await Promise.all([0, 1, 2, 3].map((page) => events(own, `?page=${page}&size=10`)));
    expect(new Set(pages.flatMap(({ content }) => content.map(({ id }) => id))).size).toBe(31);
  });

  it('resourceId leaves only the events of that resource', async () => {
    const own = await organization(drawbridge, [{ group: group(3) }, { group: group(4) }]);
    expect((await events(own)).totalElements).toBe(2);
    const page = await events(own, `?resourceId=${own.resourceIds[1]}`);
    expect(page.totalElements).toBe(1);
    expect(page.content.map(({ resourceName }) => resourceName)).toEqual(['resource-1']);
  });

  it('the events of a deleted resource go with it', async () => {
    const own = await organization(drawbridge);
    await drawbridge.query('UPDATE resources SET deleted_at = now() WHERE id = $1', [own.resourceIds[0]]);
    expect(await events(own)).toMatchObject({ content: [], totalElements: 0 });
  });
});
