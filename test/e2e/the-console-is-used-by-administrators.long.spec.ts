import { furnishedOrganization } from '../builders/console/furnished-organization';
import { group, organization, ownOrganization, sshTo } from '../builders/accounts/organization';
import { newcomer, type Person } from '../builders/accounts/people';
import { describeInBrowser, type Visitor } from '../harness/console/browser';
import { TestConsole } from '../harness/console/console';
import { Drawbridge } from '../harness/product/drawbridge';
import { verify, WebhookReceiver } from '../harness/receivers/webhook-receiver';

describeInBrowser('The console is used by administrators', () => {
  const drawbridge = Drawbridge.shared();
  const site = TestConsole.of(drawbridge);
  const org = ownOrganization(drawbridge, sshTo(1));
  let member: Person;

  beforeAll(async () => {
    member = await newcomer(drawbridge, org.admin, { roleIds: [org.roleId] });
  });

  const at = async (path: string, owner = org): Promise<Visitor> => {
    return site.signedIn(await newcomer(drawbridge, owner.admin, { isOrgAdmin: true }), path);
  };

  it('who lock down from where the access is seen, which counts what ends before and after, and find in the banner where another one lifts it', async () => {
    const { id } = await member.client.posted<{ id: string }>('/sessions', { ipv4Address: '203.0.113.7' });
    await org.reaches(id, 'ACTIVE');
    // who becomes an administrator later lifts none
    const other = await at('/people');
    const visitor = await at('/open');
    const { page } = visitor;
    await visitor.click('button', 'Lock down');
    await page.getByText('1 open session of 1 user').waitFor();
    await visitor.fill('Reason', 'Laptop stolen');
    await visitor.confirms('Lock down');
    await visitor.says(/^Locked down: .* This ended 1 session\.$/);
    await org.reaches(id, 'CANCELLED');
    await visitor.settled();
    expect(await visitor.focused()).toBe('Sessions');
    await other.click('link', 'Lift it');
    await other.reaches('Organization');
    await other.click('button', 'Lift the lockdown');
    await other.confirms('Lift the lockdown');
    await other.says(/^Lift the lockdown of .*: done\.$/);
    await other.page.getByRole('button', { name: 'Lock down' }).waitFor();
    await other.settled();
    expect(await other.focused()).toBe('Lockdown');
    expect([...visitor.complaints, ...other.complaints]).toEqual([]);
  });

  it('who are asked before they get a link that sets the password of another person, end the sign-ins of that person, and delete without leaving the dialog', async () => {
    const visitor = await at(`/people/${member.id}`);
    await visitor.click('button', 'Get a password link');
    await visitor.shows(/^The link sets the password of/);
    await visitor.confirms('Get a password link');
    await visitor.page.getByRole('region', { name: /^Link for/ }).waitFor();
    await visitor.click('button', 'End the sign-ins');
    await visitor.confirms('End the sign-ins');
    await visitor.says(/^End every sign-in of .*: done\.$/);
    expect((await member.client.get('/auth/me')).status).toBe(401);
    await visitor.click('button', 'Delete');
    await visitor.page.getByRole('dialog').waitFor();
    expect(await visitor.focused()).toMatch(/^Delete .*\?$/);
    await visitor.confirms('Delete');
    await visitor.reaches('People');
    await visitor.says(/^Delete .*: done\.$/);
    expect(visitor.complaints).toEqual([]);
  });

  it('who confirm a right, of how few there are, and see that it is due no more', async () => {
    const own = await organization(drawbridge, sshTo(1));
    await own.admin.patched('/organization/settings', { membershipReviewDays: 30 });
    await drawbridge.query(
      `UPDATE role_users SET created_at = now() - interval '40 days' WHERE organization_id = $1`,
      [own.organizationId],
    );
    const keeper = await newcomer(drawbridge, own.admin, { isOrgAdmin: true });
    const visitor = await site.signedIn(keeper, '/reviews');
    const { page } = visitor;
    await page.getByText('due', { exact: true }).waitFor();
    await page.getByRole('checkbox').last().check();
    await visitor.click('button', 'Confirm…');
    await visitor.fill('Note', 'On call');
    await visitor.confirms('Confirm');
    await visitor.says(/^Confirm 1 right: 1 done\.$/);
    await page.getByText('due', { exact: true }).waitFor({ state: 'detached' });
    await page.getByRole('cell').getByText(keeper.email).waitFor();
    expect(visitor.complaints).toEqual([]);
  });

  it('who find an account of a credential for many among those of other pages', async () => {
    const { id } = await org.admin.created('/credentials', {
      name: 'Every account',
      provider: 'AWS',
      credentialType: 'WEB_IDENTITY',
      credentialData: { roleArn: 'arn:aws:iam::{account}:role/drawbridge' },
    });
    await drawbridge.query(
      `INSERT INTO cloud_accounts (organization_id, credential_id, account, listed_label, listed_at)
       SELECT $1, $2, (200000000000 + n)::text, 'Account ' || n, now() FROM generate_series(1, 60) n`,
      [org.organizationId, id],
    );
    const visitor = await at(`/credentials/${id}`);
    const { page } = visitor;
    await visitor.click('link', 'Accounts');
    await page.getByText('1 to 50 of 60').waitFor();
    await visitor.click('link', 'Next');
    await page.getByText('Account 60', { exact: true }).waitFor();
    await page.getByLabel('Search: account, name').fill('200000000007');
    await page.getByText('Account 7', { exact: true }).waitFor();
    expect(await page.getByRole('row').count()).toBe(2);
    await visitor.click('link', 'Credential');
    await page.getByLabel(/^Accounts below/).fill('ou-abcd-12345678');
    await page.getByRole('region', { name: 'Commands' }).getByText('ou-abcd-12345678').waitFor();
    expect(visitor.complaints).toEqual([]);
  });

  it('who delete an object of each kind, for which nothing is asked afterwards', async () => {
    const own = await furnishedOrganization(drawbridge, { group: group(0) }, '203.0.113.8');
    // with an open session a resource cannot be deleted
    await own.admin.posted(`/sessions/${own.sessionId}/stop`);
    await own.reaches(own.sessionId, 'CANCELLED');
    const visitor = await at(`/roles/${own.roleId}?tab=users`, own);
    await visitor.page.getByRole('button', { name: 'Remove' }).first().click();
    await visitor.shows(/^Not allowed any more: \d+ rights?$/);
    const asked: string[] = [];
    visitor.page.on('request', (request) => asked.push(`${request.method()} ${request.url()}`));
    const deleted: readonly [route: string, id: string][] = [
      ['/static-rules/$id', own.staticIpRuleId],
      ['/resources/$id?tab=settings', own.resourceIds[0]!],
      ['/credentials/$id', own.credentialId],
      ['/roles/$id', own.roleId],
      ['/webhooks/$id', own.webhookId],
      ['/automation/trusts/$id', own.oidcTrustId],
      ['/organization/providers/$id', own.identityProviderId],
      ['/people/$id', own.userId],
    ];
    for (const [route, id] of deleted) {
      await visitor.goto(route.replace('$id', id));
      await visitor.click('button', 'Delete');
      await visitor.confirms(/^Delete/);
      await visitor.says(/^Delete .*: done\.$/);
      await visitor.settled();
      const after = asked.slice(asked.findLastIndex((request) => request.startsWith('DELETE')));
      const ofIt = after.filter((request) => request.includes(id));
      expect(ofIt).toEqual([expect.not.stringContaining('dryRun')]);
    }
    expect(visitor.complaints).toEqual([]);
  });

  it('who tell others with a webhook that is tested, fails, and is sent again what failed', async () => {
    const receiver = await WebhookReceiver.start();
    const visitor = await at('/webhooks');
    const { page } = visitor;
    await visitor.click('link', 'Create the first one');
    await visitor.fill('URL', 'http://10.0.0.1/');
    await page.getByLabel('Search: Events').fill(' Role cr ');
    await page.getByRole('checkbox').check();
    await visitor.click('button', 'Create the webhook');
    await visitor.shows('URL leads to an address that this deployment lets no webhook lead to');
    visitor.forget();
    await visitor.fill('URL', receiver.url('/told'));
    await visitor.click('button', 'Create the webhook');
    const secret = await page.getByRole('region', { name: 'Secret', exact: true }).innerText();
    await visitor.click('button', 'I have copied it');
    await visitor.click('button', 'Send a test');
    await visitor.shows('The test was delivered: the receiver answered 200.');
    const [test] = receiver.at('/told');
    expect(verify(secret, test!)).toMatchObject({ type: 'WEBHOOK_TESTED' });

    const newest = page.getByRole('row').nth(1);
    const again = newest.getByRole('button', { name: 'Send again' });
    receiver.behaviours.set('/told', 500);
    await again.click();
    await newest.getByText('it answered 500').waitFor();
    await visitor.shows('Failing');
    receiver.behaviours.clear();
    await again.click();
    await newest.getByText('Delivered').waitFor();
    await visitor.shows('Enabled');
    expect(receiver.at('/told').map(({ id }) => id)).toEqual([test!.id, test!.id, test!.id]);
    expect(visitor.complaints).toEqual([]);

    const named = async (name: string): Promise<void> => {
      await visitor.click('button', 'Change');
      await visitor.fill('Name', name);
      await visitor.click('button', 'Save');
      const title = name === '' ? /^Webhook to 127\.0\.0\.1/ : name;
      await page.getByRole('heading', { level: 1, name: title }).waitFor();
    };
    await named('Night shift');
    await visitor.click('button', 'Delete');
    await visitor.shows('Delete the webhook “Night shift”?');
    await visitor.click('button', 'Cancel');
    await named('');
    await named('Day shift');
    await visitor.goto('/webhooks');
    await page.getByRole('row', { name: 'Day shift' }).getByText(receiver.url('/told')).waitFor();
    await receiver.stop();
  });
});
