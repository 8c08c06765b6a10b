import { asks } from '../builders/requests/access-requests';
import { ownOrganization, sshTo } from '../builders/accounts/organization';
import { newcomer, PASSWORD, type Person } from '../builders/accounts/people';
import type { Session } from '../harness/product/api-client';
import { describeInBrowser, type Visitor } from '../harness/console/browser';
import { saysTime, TestConsole } from '../harness/console/console';
import { Drawbridge } from '../harness/product/drawbridge';
import { until } from '../harness/until';

describeInBrowser('The console lets a member in', () => {
  const drawbridge = Drawbridge.shared();
  const site = TestConsole.of(drawbridge);
  const org = ownOrganization(drawbridge, sshTo(2));
  let member: Person;

  beforeEach(async () => {
    member = await newcomer(drawbridge, org.admin, { roleIds: [org.roleId] });
  });
  afterEach(async () => {
    await drawbridge.cloud.clearFaults();
    await drawbridge.query('UPDATE sessions SET expires_at = now()');
    await until('every rule is gone', async () => (await openAddresses()).length === 0);
  });

  const arrived = (): Promise<Visitor> => site.signedIn(member, '/');
  const openAddresses = async (): Promise<string[]> =>
    (await drawbridge.cloud.rules()).filter(({ ours }) => ours).map(({ address }) => address);
  /** Of the open session. */
  const end = async (): Promise<string> => {
    const [session] = await member.client.read<Session[]>('/sessions?active=true');
    return session!.expiresAt;
  };

  it('with one click, and out with another; what it shows is what the cloud has', async () => {
    const visitor = await arrived();
    await visitor.click('button', 'Let me in');
    await visitor.reaches(/^Open until/, 2);
    expect(visitor.clicks).toBe(1);
    expect(await openAddresses()).toHaveLength(2);
    await visitor.click('button', 'Stop');
    await visitor.reaches(/^Stopped/, 2);
    expect(await openAddresses()).toEqual([]);
    expect(visitor.complaints).toEqual([]);
  });

  it('unless there is a lockdown, which stops what is open and is named as what did; no refusal names a route', async () => {
    const visitor = await arrived();
    await visitor.click('button', 'Let me in');
    await visitor.reaches(/^Open until/, 2);
    await asks(org, { approvals: 1 });
    await visitor.click('button', 'Extend');
    await visitor.page.getByRole('dialog').getByRole('button', { name: 'Extend' }).click();
    await visitor.shows('it needs approval again. Ask under Access for a new one');
    await asks(org, { approvals: 0 });
    const lockdown = `/users/${member.id}/lockdown`;
    await org.admin.posted(lockdown, { reason: 'Laptop stolen' });
    const [session] = await member.client.read<{ id: string }[]>('/sessions');
    await org.reaches(session!.id, 'CANCELLED');
    await visitor.goto(`/sessions/${session!.id}`);
    await visitor.reaches(/^Stopped by a lockdown at/);
    await visitor.goto('/');
    await visitor.shows('Laptop stolen');
    expect(await visitor.page.getByRole('button', { name: 'Let me in' }).count()).toBe(0);
    await org.admin.deleted(lockdown);
  });

  it('and tells by mail what is chosen; administrators are offered more', async () => {
    const visitor = await arrived();
    const { page } = visitor;
    await visitor.goto('/account');
    await page.getByLabel('My access ends soon').uncheck();
    await visitor.click('button', 'Save the choice');
    await page.getByText('Saved.').waitFor();
    await page.reload();
    await page.getByLabel('Another person ended my access').waitFor();
    expect(await page.getByLabel('My access ends soon').isChecked()).toBe(false);
    expect(await page.getByLabel('Another person ended my access').isChecked()).toBe(true);
    expect(await page.getByLabel('An API key or a static IP rule ends soon').count()).toBe(0);
    await drawbridge.query('UPDATE users SET is_org_admin = true WHERE email = $1', [member.email]);
    await page.reload();
    await page.getByLabel('An API key or a static IP rule ends soon').waitFor();
    expect(visitor.complaints).toEqual([]);
  });

  it('to some of the resources, for as long as wished', async () => {
    const visitor = await arrived();
    await visitor.page.getByRole('checkbox', { name: 'resource-1' }).uncheck();
    await visitor.fill('Hours', '2');
    await visitor.click('button', 'Let me in');
    await visitor.reaches(/^Open until/, 2);
    const leftMs = Date.parse(await end()) - Date.now();
    expect([leftMs > 1.9 * 3_600_000, leftMs < 2 * 3_600_000]).toEqual([true, true]);
    expect(await openAddresses()).toHaveLength(1);
  });

  it('from where the member is now, who was let in elsewhere before', async () => {
    const elsewhere = { ipv4Address: '203.0.113.50', ipv6Address: '2001:db8::50' };
    await member.client.posted('/sessions', elsewhere);
    await until('it is open there', async () => (await openAddresses()).length === 4);
    const visitor = await arrived();
    await visitor.shows('Moved?');
    await visitor.click('button', 'Let me in here');
    await visitor.page.getByText('let in', { exact: true }).waitFor();
    await until('the former address is out', async () =>
      (await openAddresses()).every((address) => !/203\.0\.113\.50|2001:db8::50/.test(address)),
    );
    expect((await openAddresses()).length).toBeGreaterThan(0);
  });

  it('by keyboard alone', async () => {
    const visitor = await site.stranger('/');
    await visitor.types('E-mail', member.email);
    await visitor.types('Password', PASSWORD);
    await visitor.press('Enter');
    await visitor.reaches('Access');
    await visitor.settled();
    await visitor.tabTo('Let me in');
    await visitor.press('Enter');
    await visitor.reaches(/^Open until/, 2);
    expect(await openAddresses()).toHaveLength(2);
    await visitor.tabTo('Extend');
    await visitor.press('Enter');
    await visitor.page.getByRole('dialog').waitFor();
    await visitor.press('Escape');
    // the focus is where it was
    expect(await visitor.focused()).toBe('Extend');
    await visitor.page.locator('dialog').waitFor({ state: 'detached' });
    await visitor.press('Enter');
    await visitor.shows(saysTime('instead of', await end()));
    await visitor.press('Enter');
    const extended = visitor.page.getByRole('status').getByText(/^Extended: open until/);
    await extended.waitFor();
    expect(await extended.innerText()).toMatch(saysTime('^Extended: open until', await end()));
    expect(await visitor.focused()).toBe('Extend');
    await visitor.tabTo('Details');
    await visitor.press('Enter');
    await visitor.reaches(/^Open until/);
    await visitor.settled();
    expect(await visitor.focused()).toMatch(/^Open until/);
    await visitor.page.goBack();
    await visitor.reaches(/^Open until/, 2);
    await visitor.settled();
    expect(await visitor.focused()).toBe('Access');
    await visitor.tabTo('Stop');
    await visitor.press('Space');
    await visitor.reaches(/^Stopped/, 2);
    expect(await openAddresses()).toEqual([]);
    expect(visitor.clicks).toBe(0);
  });

  it('and says what the words of the cloud mean when it refuses, and what to do', async () => {
    await drawbridge.cloud.fault({ kind: 'quota', target: sshTo(2)[1]!.group });
    const visitor = await arrived();
    await visitor.click('button', 'Let me in');
    await visitor.page.getByText('Open in part', { exact: true }).waitFor();
    const words = await visitor.page.getByRole('main').innerText();
    expect(words).toContain('refused');
    expect(words).toMatch(/The target is full.*Tell an administrator of Example. Then try again/);
    expect(words).toContain('RulesPerSecurityGroupLimitExceeded');
    expect(await openAddresses()).toHaveLength(1);
  });
});
