import { founder, newcomer } from '../builders/accounts/people';
import { organization, sshTo } from '../builders/accounts/organization';
import { crowdedOrganization } from '../builders/console/crowded-organization';
import { describeInBrowser, type Visitor } from '../harness/console/browser';
import { TestConsole } from '../harness/console/console';
import { Drawbridge } from '../harness/product/drawbridge';

const COLLECTIONS = [
  '/resources',
  '/credentials',
  '/people',
  '/roles',
  '/automation',
  '/automation?tab=trusts',
  '/organization?tab=company-sign-in',
  '/webhooks',
  '/static-rules',
  '/history',
  '/decide',
  '/open',
  '/open?tab=all',
  '/reviews',
  '/reviews?tab=static-rules',
];

/** Addresses and identifiers that take more than a line. */
const TALL = `[...document.querySelectorAll('code')]
  .filter((one) => one.getClientRects().length > 1 && !one.querySelector('wbr'))
  .map((one) => one.innerText)`;

/** What puts a list in another order. */
const HEADS = `[...document.querySelectorAll('th a')].map(({ href }) => href)`;

describeInBrowser('The console lists many', () => {
  const drawbridge = Drawbridge.shared();
  const site = TestConsole.of(drawbridge);

  const at = (path: string, email: string): Promise<Visitor> => site.signedIn({ email }, path);
  const names = ({ page }: Visitor): Promise<string[]> =>
    page.locator('td[data-label=Name] a').allInnerTexts();
  const copies = (table: string, id: string, count: number, own: string): Promise<unknown> =>
    drawbridge.query(
      `INSERT INTO ${table} SELECT (jsonb_populate_record(known, jsonb_build_object('id', gen_random_uuid(), ${own}))).*
       FROM ${table} AS known, generate_series(1, $2::int) AS copy WHERE known.id = $1`,
      [id, count],
    );

  it('found by a part of the name from the keyboard, in the order of a head, as the address says; few are a plain table', async () => {
    const { email, client } = await founder(drawbridge);
    const { id } = await client.created('/users', { email: `one-${email}`, name: 'Grace' });
    const visitor = await at('/people', email);
    const { page } = visitor;
    expect(await page.getByRole('search').count()).toBe(0);
    expect(await page.getByRole('checkbox').count()).toBe(0);
    await copies('users', id, 500, `'email', copy || '-${email}', 'name', 'Person ' || copy`);
    await page.reload();
    await page.getByText('1 to 50 of 502').waitFor();
    await visitor.click('link', /^Name/);
    await page.waitForURL(/sort=name/);
    await page
      .getByRole('columnheader', { name: 'Name' })
      .and(page.locator('[aria-sort=ascending]'))
      .waitFor();
    await visitor.click('link', /^Name/);
    await page.locator('[aria-sort=descending]').waitFor();
    await visitor.settled();
    const descending = await names(visitor);
    expect(descending).toEqual(descending.toSorted().toReversed());
    await visitor.press('/');
    await page.keyboard.type('grac');
    await page.waitForURL(/search=grac/);
    await visitor.settled();
    expect(await names(visitor)).toEqual(['Grace']);
    expect(await visitor.focused()).toBe('Search: name or e-mail');
    await page.reload();
    await visitor.settled();
    expect(await names(visitor)).toEqual(['Grace']);
    await visitor.click('button', 'Clear filters');
    await page.getByText('1 to 50 of 502').waitFor();
    expect(visitor.complaints).toEqual([]);
  });

  it('50 sessions are stopped at once by keyboard alone, and the focus is never lost', async () => {
    const org = await organization(drawbridge, sshTo(1));
    const { id } = await org.started({ ipv4Address: '203.0.113.90' });
    await org.reaches(id, 'ACTIVE');
    await copies('sessions', id, 54, `'holder', copy, 'token_hash', null`);
    const visitor = await at('/open', (await newcomer(drawbridge, org.admin, { isOrgAdmin: true })).email);
    const { page } = visitor;
    const pressed = async (key: string): Promise<void> => {
      await visitor.press(key);
      expect(await page.evaluate<string>('document.activeElement.tagName')).not.toBe('BODY');
    };
    await visitor.tabTo('Select all 50 on this page');
    await pressed('Space');
    await page.getByText('50 selected').waitFor();
    while ((await visitor.focused()) !== 'Stop…') await pressed('Shift+Tab');
    await pressed('Enter');
    expect(await visitor.focused()).toBe('Stop 50 sessions?');
    while ((await visitor.focused()) !== 'Stop') await pressed('Tab');
    await pressed('Enter');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('status').getByText('Stop 50 sessions: 50 done.').waitFor();
    await visitor.settled();
    await pressed('Tab');
    const live = await org.admin.read<object[]>('/sessions/admin?active=true');
    expect(live).toHaveLength(5);
    expect(visitor.complaints).toEqual([]);
  });

  it('a member of many resources is let in to the last choice with one click, and to all after a look at the plan', async () => {
    const org = await organization(drawbridge, sshTo(2));
    const { organizationId, roleId, resourceIds } = org;
    await copies('resources', resourceIds[0]!, 30, `'name', 'copy-' || copy, 'verify_due_at', null`);
    await drawbridge.query(
      `INSERT INTO role_resources (role_id, resource_id, organization_id)
       SELECT $2, id, organization_id FROM resources WHERE organization_id = $1 ON CONFLICT DO NOTHING`,
      [organizationId, roleId],
    );
    const { client, email } = await newcomer(drawbridge, org.admin, { roleIds: [roleId] });
    const before = { ipv4Address: '203.0.113.91', resourceIds };
    const { id } = await client.posted<{ id: string }>('/sessions', before);
    await org.reaches(id, 'ACTIVE');
    await client.posted(`/sessions/${id}/stop`);
    await org.reaches(id, 'CANCELLED');
    const visitor = await at('/', email);
    await visitor.click('button', /^Let me in to resource-\d and resource-\d$/);
    await visitor.reaches(/^Open until/, 2);
    expect(visitor.clicks).toBe(1);
    const [live] = await client.read<{ id: string }[]>('/sessions?active=true');
    await client.posted(`/sessions/${live!.id}/stop`);
    await org.reaches(live!.id, 'CANCELLED');
    await visitor.goto('/');
    await visitor.page.getByText('Choose', { exact: true }).click();
    await visitor.click('button', 'Everything (32)');
    await visitor.click('button', /^Let me in to /);
    await visitor.page.getByRole('dialog', { name: 'Open 32 resources?' }).waitFor();
    await visitor.shows('32 rules on 32 resources');
    await visitor.confirms('Let me in');
    await visitor.reaches(/^Open until/, 2);
    expect(visitor.complaints).toEqual([]);
  });

  it('no address takes more than a line, on a phone and on a desk, and each head puts in order', async () => {
    const { keeper } = await crowdedOrganization(drawbridge, '127.0.0.1');
    const visitor = await site.signedIn(keeper);
    for (const path of COLLECTIONS) {
      await visitor.goto(path);
      for (const width of [320, 1280]) {
        await visitor.page.setViewportSize({ width, height: 800 });
        expect([path, width, await visitor.page.evaluate<string[]>(TALL)]).toEqual([path, width, []]);
      }
      for (const head of await visitor.page.evaluate<string[]>(HEADS)) await visitor.goto(head);
    }
    expect(visitor.complaints).toEqual([]);
  });
});
