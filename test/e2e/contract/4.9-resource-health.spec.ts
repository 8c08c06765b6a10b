import { randomUUID } from 'node:crypto';
import {
  group,
  organization,
  ownOrganization,
  type Organization,
} from '../../builders/accounts/organization';
import { PAGE_FIELDS, type Page } from '../../builders/contract/page';
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

  it('answers a Page with all of its fields', async () => {
    const page = await events(org);
    expect(Object.keys(page).toSorted()).toEqual(PAGE_FIELDS);
    expect(page).toMatchObject({ number: 0, size: 20, first: true, last: true });
  });

  it('an event has id, resourceId, resourceName, eventType, message and createdAt', async () => {
    const [event] = (await events(org)).content;
    expect(event).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
      resourceId: org.resourceIds[0],
      resourceName: 'resource-0',
      eventType: 'VERIFY_OK',
      message: null,
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
    });
  });

  it('a verification that succeeds is a VERIFY_OK without a message', async () => {
    const own = await organization(drawbridge);
    expect((await events(own)).content.map(({ eventType, message }) => [eventType, message])).toEqual([
      ['VERIFY_OK', null],
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

  it('page is 0 and size 20 unless they are given', async () => {
    const own = await withEvents(24);
    const page = await events(own);
    expect(page.content).toHaveLength(20);
    expect(page).toMatchObject({
      totalElements: 25,
      totalPages: 2,
      number: 0,
      size: 20,
      first: true,
      last: false,
      numberOfElements: 20,
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

  it('400 for a resourceId that is no UUID, naming the field', async () => {
    const answer = await org.admin.get<{ validationErrors: object }>('/resource-health/events?resourceId=1');
    expect(answer.status).toBe(400);
    expect(Object.keys(answer.body.validationErrors)).toEqual(['resourceId']);
  });

  it('resourceId leaves only the events of that resource', async () => {
    const own = await organization(drawbridge, [{ group: group(3) }, { group: group(4) }]);
    expect((await events(own)).totalElements).toBe(2);
    const page = await events(own, `?resourceId=${own.resourceIds[1]}`);
    expect(page.totalElements).toBe(1);
    expect(page.content.map(({ resourceName }) => resourceName)).toEqual(['resource-1']);
  });

  it('a resource that does not exist has none', async () => {
    expect(await events(org, `?resourceId=${randomUUID()}`)).toMatchObject({ content: [], totalElements: 0 });
  });

  it('another organization’s events do not exist, asked for or not', async () => {
    const stranger = await organization(drawbridge);
    expect(await events(stranger, `?resourceId=${org.resourceIds[0]}`)).toMatchObject({ content: [] });
    const all = (await events(stranger)).content;
    expect(all.map(({ resourceId }) => resourceId)).toEqual([...stranger.resourceIds]);
  });

  it('the events of a deleted resource go with it', async () => {
    const own = await organization(drawbridge);
    await drawbridge.query('UPDATE resources SET deleted_at = now() WHERE id = $1', [own.resourceIds[0]]);
    expect(await events(own)).toMatchObject({ content: [], totalElements: 0 });
  });
});
