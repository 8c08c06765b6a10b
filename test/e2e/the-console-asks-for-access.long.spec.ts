import type { Schemas } from '#client';
import { asked as askedFor, asks, REASON, type AccessRequest } from '../builders/requests/access-requests';
import { totpOf } from '../builders/accounts/accounts';
import { ownOrganization, sshTo } from '../builders/accounts/organization';
import { founder, newcomer, PASSWORD, type Person } from '../builders/accounts/people';
import { describeInBrowser, type Visitor } from '../harness/console/browser';
import { saysTime, TestConsole } from '../harness/console/console';
import { Drawbridge } from '../harness/product/drawbridge';

type Recovery = Schemas['RecoveryCodesDto'];

describeInBrowser('The console asks for access, and lets others decide', () => {
  const drawbridge = Drawbridge.shared();
  const site = TestConsole.of(drawbridge);
  const org = ownOrganization(drawbridge, sshTo(2));
  let member: Person;
  let approver: Person;

  beforeAll(async () => {
    const [, free] = org.resourceIds;
    await org.admin.deleted(`/roles/${org.roleId}/resources/${free}`);
    const role = { name: 'Free', resourceIds: [free] };
    const { id: freeRole } = await org.admin.created('/roles', role);
    member = await newcomer(drawbridge, org.admin, { roleIds: [org.roleId, freeRole] });
    approver = await newcomer(drawbridge, org.admin, { isOrgAdmin: true });
    await asks(org, { approvals: 1, mayBreakGlass: true, maxSessionDurationHours: 2 });
  });

  const asked = async (): Promise<Visitor> => {
    const visitor = await site.signedIn(member, '/');
    await visitor.fill('Reason', REASON);
    await visitor.fill('Ticket', 'INC-12');
    // as two quick clicks do
    await visitor.page.getByRole('button', { name: 'Ask for access' }).evaluate((button: HTMLElement) => {
      button.click();
      button.click();
    });
    await visitor.reaches(/^Access for/);
    await visitor.shows('Once it is approved, you open it with one click');
    return visitor;
  };
  const requests = (): Promise<AccessRequest[]> =>
    member.client.read<AccessRequest[]>('/access-requests?view=mine');
  const headings = ({ page }: Visitor): Promise<string[]> =>
    page.getByRole('heading', { level: 2 }).allInnerTexts();

  it('what needs nobody else opens with one click and comes first; what others approve has its own limits and way', async () => {
    const visitor = await site.signedIn(member, '/');
    const hours = (): Promise<string[]> => visitor.page.getByText(/^At most \d+\.$/).allInnerTexts();
    expect(await hours()).toEqual([expect.not.stringMatching(/^At most 2\.$/), 'At most 2.']);
    expect(await visitor.page.getByRole('button', { name: 'Break glass…' }).isVisible()).toBe(false);
    await visitor.click('button', 'Let me in');
    await visitor.reaches(/^Open until/, 2);
    await visitor.settled();
    expect(await headings(visitor)).toEqual([
      'Your address',
      expect.stringMatching(/^Open until/),
      'Ask for access',
      'From a terminal',
    ]);
    await visitor.click('button', 'Stop');
    await visitor.reaches(/^Stopped/, 2);
    expect(visitor.complaints).toEqual([]);
  });

  it('what is approved, once for two clicks, opens with one more within the hour, and shows why and by whom', async () => {
    const visitor = await asked();
    expect(await requests()).toHaveLength(1);
    await visitor.shows('0 of 1 approval, by other administrators');
    const decider = await site.signedIn(approver, '/decide');
    await decider.page.getByRole('link', { name: 'Approvals 1', exact: true }).waitFor();
    const row = decider.page.getByRole('row').filter({ hasText: member.email }).first();
    for (const text of [REASON, 'INC-12', 'resource-0', '127.0.0.1', 'no similar sessions in the 30 days'])
      await row.getByText(text).first().waitFor();
    await decider.click('button', 'Approve');
    await decider.page.getByRole('dialog').getByText('INC-12').first().waitFor();
    await decider.confirms('Approve', { Note: 'For an hour' });
    await decider.shows('Nothing waits for your decision.');
    const useBy = (await requests())[0]!.useBy;
    await decider.says(saysTime('^Approved: .*It may be opened until', useBy));
    await decider.settled();
    expect(await decider.focused()).toBe('Waiting for you');
    await visitor.reaches(/^Approved: access for/);
    expect(await visitor.page.title()).toMatch(/^Approved/);
    await visitor.shows(saysTime('^Approved\\. Open it until', useBy));
    await visitor.click('button', 'Let me in');
    await visitor.reaches(/^Open until/);
    const grounds = visitor.page.getByRole('region', { name: 'Session', exact: true });
    for (const text of [REASON, approver.email]) await grounds.getByText(text).first().waitFor();
    expect(await visitor.page.getByRole('button', { name: 'Extend' }).count()).toBe(0);
    await decider.goto('/report');
    const why = decider.page.getByRole('row').filter({ hasText: member.email });
    for (const text of [REASON, 'INC-12', `approved by ${approver.email}`])
      await why.getByText(text, { exact: true }).first().waitFor();
    await visitor.click('button', 'Stop');
    await visitor.confirms('Stop it');
    await visitor.reaches(/^Stopped/);
    expect([...visitor.complaints, ...decider.complaints]).toEqual([]);
  });

  it('what its requester can open no longer says so before it is decided, and is only denied meanwhile', async () => {
    const membership = `/roles/${org.roleId}/users/${member.id}`;
    const wanted = { resourceIds: org.resourceIds.slice(0, 1), ipv4Address: '203.0.113.60' };
    const { id } = await askedFor(org, member.client, wanted);
    await org.admin.deleted(membership);
    const decider = await site.signedIn(approver, '/decide');
    const { page } = decider;
    const row = page.getByRole('row').filter({ hasText: '203.0.113.60' }).first();
    const says = /^Cannot be opened now: no role of the requester reaches it/;
    await row.getByText(says).waitFor();
    const buttons = await row.getByRole('button').allInnerTexts();
    await decider.goto(`/requests/${id}`);
    await page.getByText(says).waitFor();
    expect([buttons, await page.getByRole('button', { name: 'Approve' }).count()]).toEqual([['Deny'], 0]);
    await org.admin.posted(membership);
    await page.getByRole('button', { name: 'Approve' }).waitFor();
    expect(await page.getByText(says).count()).toBe(0);
    await approver.client.posted(`/access-requests/${id}/deny`);
    expect(decider.complaints).toEqual([]);
  });

  it('the screen of approvals and the number in the menu are read once for both', async () => {
    const alone = await founder(drawbridge);
    const visitor = await site.signedIn(alone);
    const { page } = visitor;
    await page.clock.install();
    await visitor.goto('/decide');
    const views: string[] = [];
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url());
      if (pathname.endsWith('/access-requests')) views.push(searchParams.get('view')!);
    });
    for (const passed of [15_500, 15_000]) {
      await page.clock.runFor(passed);
      await visitor.settled();
      const read = views.splice(0);
      expect([read.length, new Set(read)]).toEqual([3, new Set(['all', 'decide', 'review'])]);
    }
  });

  it('what was approved for another place does not follow: it is asked for anew', async () => {
    const { id } = await askedFor(org, member.client, { ipv4Address: '203.0.113.50' });
    await approver.client.posted(`/access-requests/${id}/approve`);
    const session = await member.client.posted<{ id: string }>('/sessions', { accessRequestId: id });
    const visitor = await site.signedIn(member, '/');
    await visitor.reaches(/^Open until/, 2);
    await visitor.page.getByRole('button', { name: 'Ask for access' }).waitFor();
    expect(await visitor.page.getByText('Moved?').count()).toBe(0);
    await member.client.posted(`/sessions/${session.id}/stop`);
  });

  it('what is denied on the page that mail leads to says so, with the note, to who waits and on the first screen', async () => {
    const visitor = await asked();
    const [request] = await requests();
    const decider = await site.signedIn(approver, `/requests/${request!.id}`);
    await decider.click('button', 'Deny');
    await decider.confirms('Deny', { Note: 'Not today' });
    await decider.page.getByText('Denied', { exact: true }).waitFor();
    const denial = visitor.page.getByRole('alert').getByText(`Denied by ${approver.email}`);
    await denial.filter({ hasText: 'Not today' }).waitFor();
    for (const screen of ['Access', 'Requests']) {
      await visitor.click('link', screen);
      await visitor.page.getByRole('main').getByText('Denied', { exact: true }).first().waitFor();
    }
    expect(decider.complaints).toEqual([]);
  });

  it('in an emergency the second factor opens, and another administrator reviews it', async () => {
    const { secret } = await member.client.posted<{ secret: string }>('/mfa/setup');
    const code = totpOf(secret).generate();
    const { recoveryCodes } = await member.client.posted<Recovery>('/mfa/setup/confirm', { code });
    const visitor = await site.stranger('/');
    await visitor.fill('E-mail', member.email);
    await visitor.fill('Password', PASSWORD);
    await visitor.click('button', 'Sign in');
    await visitor.click('button', /recovery code/);
    await visitor.fill('Recovery code', recoveryCodes[0]!);
    await visitor.click('button', 'Sign in');
    // beside what is open
    await visitor.click('button', 'Let me in');
    await visitor.reaches(/^Open until/, 2);
    await visitor.page.getByText('In an emergency').click();
    await visitor.click('button', 'Break glass…');
    await visitor.shows(/at once for 127\.0\.0\.1.*All administrators are notified/);
    const answers = { Reason: REASON, 'Code of your second factor': recoveryCodes[1]! };
    await visitor.confirms('Open without approval', answers);
    await visitor.shows('for break-glass');
    const reviewer = await site.signedIn(approver, '/decide');
    await reviewer.click('button', 'Review');
    await reviewer.confirms('Review', { Note: 'It was right' });
    await reviewer.shows('There is nothing to review.');
    await reviewer.page.getByText('Reviewed', { exact: true }).waitFor();
    expect(reviewer.complaints).toEqual([]);
  });

  it('an approver withdraws what no session has used', async () => {
    const { id } = await askedFor(org, member.client, { ipv4Address: '203.0.113.51' });
    await approver.client.posted(`/access-requests/${id}/approve`);
    const visitor = await site.signedIn(approver, `/requests/${id}`);
    await visitor.click('button', 'Withdraw the approval');
    await visitor.page.getByRole('status').getByText('Not used', { exact: true }).waitFor();
    expect(await visitor.page.getByRole('button', { name: 'Withdraw the approval' }).count()).toBe(0);
    expect(visitor.complaints).toEqual([]);
  });

  it('an administrator sets what a role asks for', async () => {
    const visitor = await site.signedIn(approver, `/roles/${org.roleId}`);
    await visitor.fill('Pattern of a reason', 'INC-*');
    await visitor.page.getByLabel('Approvals by others').selectOption('2');
    await visitor.page.getByLabel('May open without approval in an emergency').uncheck();
    await visitor.fill('IPv6 prefix that is opened', '64');
    await visitor.click('button', 'Save');
    await visitor.shows('Saved.');
    expect(await org.admin.read(`/roles/${org.roleId}`)).toMatchObject({
      requireReason: true,
      reasonPattern: 'INC-*',
      approvals: 2,
      mayBreakGlass: false,
      ipv6PrefixLength: 64,
    });
  });
});
