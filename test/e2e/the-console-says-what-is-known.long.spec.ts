import { asked, asks } from '../builders/requests/access-requests';
import { ownOrganization, sshTo } from '../builders/accounts/organization';
import { newcomer, PASSWORD, type Person } from '../builders/accounts/people';
import type { Session } from '../harness/product/api-client';
import { describeInBrowser, type Visitor } from '../harness/console/browser';
import { saysTime, TestConsole } from '../harness/console/console';
import { Drawbridge } from '../harness/product/drawbridge';

/** The clock of a browser that is wrong. */
const THREE_HOURS_AHEAD = `(() => {
  const Right = Date;
  globalThis.Date = class extends Right {
    static now() { return Right.now() + 3 * 3_600_000; }
    constructor(...given) { super(...(given.length === 0 ? [Right.now() + 3 * 3_600_000] : given)); }
  };
})()`;

describeInBrowser('The console says what is known of what has no answer', () => {
  const drawbridge = Drawbridge.shared();
  const site = TestConsole.of(drawbridge);
  const org = ownOrganization(drawbridge, sshTo(1));
  let member: Person;

  beforeEach(async () => {
    member = await newcomer(drawbridge, org.admin, { roleIds: [org.roleId] });
  });

  const started = async (): Promise<Session> => {
    const { id } = await member.client.posted<Session>('/sessions', { durationHours: 2 });
    return org.reaches(id, 'ACTIVE');
  };
  const UNANSWERED = 'no answer from the server';
  const isUnanswered = ({ page }: Visitor, what: string): Promise<void> =>
    page.getByRole('status').filter({ hasText: what }).filter({ hasText: UNANSWERED }).waitFor();
  const isAnswered = ({ page }: Visitor): Promise<void> =>
    page.getByText(UNANSWERED).first().waitFor({ state: 'detached' });

  it('a stop is repeated until it is answered; each screen shows it, with the time at which the access ends anyway', async () => {
    const { id, expiresAt } = await started();
    const visitor = await site.signedIn(member, '/history');
    await visitor.click('link', 'Access');
    await visitor.page.getByRole('button', { name: 'Stop' }).waitFor();
    await visitor.context.setOffline(true);
    await visitor.click('button', 'Stop');
    await isUnanswered(visitor, 'Stop the access');
    await visitor.shows(saysTime('The access ends at', expiresAt));
    await visitor.click('link', 'History');
    await visitor.reaches('History');
    await isUnanswered(visitor, 'Stop the access');
    await visitor.context.setOffline(false);
    await org.reaches(id, 'CANCELLED');
    await isAnswered(visitor);
  });

  it('a stop that was done, and whose answer was lost, is no failure', async () => {
    const { id } = await started();
    const keeper = await newcomer(drawbridge, org.admin, { isOrgAdmin: true });
    const visitor = await site.signedIn(keeper, `/sessions/${id}`);
    let tries = 0;
    await visitor.context.route(`**/sessions/admin/${id}/stop`, async (route) => {
      tries += 1;
      if (tries > 1) return route.continue();
      await route.fetch();
      await route.abort();
    });
    await visitor.click('button', 'Stop');
    await visitor.confirms('Stop it');
    await visitor.reaches(/^Stopped by an administrator/);
    expect(await visitor.page.getByRole('alert').count()).toBe(0);
  });

  it('a sign-out forgets the sign-in at once, and is repeated until the server has ended it', async () => {
    const visitor = await site.signedIn(member, '/');
    await visitor.context.setOffline(true);
    await visitor.click('button', 'Sign out');
    await visitor.reaches('Sign in');
    await isUnanswered(visitor, 'Sign out');
    expect(await visitor.context.cookies()).toHaveLength(1);
    await visitor.context.setOffline(false);
    await isAnswered(visitor);
    expect(await visitor.context.cookies()).toEqual([]);
  });

  it('the next sign-in is not ended by the sign-out before it', async () => {
    const visitor = await site.signedIn(member, '/');
    await visitor.context.route('**/auth/logout', (route) => route.abort());
    await visitor.click('button', 'Sign out');
    await isUnanswered(visitor, 'Sign out');
    await visitor.fill('E-mail', member.email);
    await visitor.fill('Password', PASSWORD);
    await visitor.click('button', 'Sign in');
    await visitor.reaches('Access');
    await isAnswered(visitor);
    await visitor.context.unroute('**/auth/logout');
    await visitor.page.reload();
    await visitor.reaches('Access');
  });

  it('an approval is not repeated, and nothing claims that it is', async () => {
    await asks(org, { approvals: 1 });
    await asked(org, member.client, {});
    await asks(org, { approvals: 0 });
    const approver = await newcomer(drawbridge, org.admin, { isOrgAdmin: true });
    const visitor = await site.signedIn(approver, '/decide');
    await visitor.page.getByRole('button', { name: 'Approve' }).first().click();
    await visitor.context.setOffline(true);
    const dialog = visitor.page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Approve' }).click();
    const message = await dialog.getByRole('alert').innerText();
    expect(message).toContain('it is not known whether this was done');
    expect(message).not.toContain('tried again');
  });

  it('what is shown without an answer says when there was one', async () => {
    const visitor = await site.signedIn(member, '/history');
    const stale = visitor.page.getByText(/^As of \d\d:\d\d:\d\d: no answer from the server since/);
    await visitor.context.route('**/api/v1/**', (route) => route.abort());
    await visitor.click('link', 'Requests');
    await stale.waitFor();
    await visitor.context.unroute('**/api/v1/**');
    await stale.waitFor({ state: 'detached' });
    await visitor.context.setOffline(true);
    await stale.waitFor();
    expect(await stale.innerText()).toContain('What is shown may be out of date.');
  });

  it('what is left is counted by the clock of the server', async () => {
    await started();
    const visitor = await site.signedIn(member);
    await visitor.context.addInitScript(THREE_HOURS_AHEAD);
    await visitor.goto('/history');
    const until = visitor.page.getByRole('cell').filter({ hasText: 'left' }).first();
    // of two hours; the server tells its time in whole seconds
    expect(await until.innerText()).toMatch(/(?:2 h|1 h 5\d min) left/);
  });
});
