import { accountOwner, mailedToken } from '../builders/accounts/accounts';
import { email, founder, newcomer, PASSWORD } from '../builders/accounts/people';
import { consoleSignIn } from '../builders/console/sign-in';
import { describeInBrowser } from '../harness/console/browser';
import { TestConsole } from '../harness/console/console';
import { Drawbridge } from '../harness/product/drawbridge';

const WELCOME = 'Access';

describeInBrowser('The console signs in', () => {
  const drawbridge = Drawbridge.shared();
  const site = TestConsole.of(drawbridge);
  const { challenged } = consoleSignIn(drawbridge, site);

  it('with a password, at the screen that was asked for', async () => {
    const owner = await accountOwner(drawbridge);
    const visitor = await site.stranger('/history?page=2');
    await visitor.reaches('Sign in');
    await visitor.fill('E-mail', owner.email);
    await visitor.fill('Password', 'no password of hers');
    await visitor.click('button', 'Sign in');
    await visitor.page.getByRole('alert').waitFor();
    await visitor.fill('Password', owner.password);
    await visitor.click('button', 'Sign in');
    await visitor.reaches('History');
    expect(new URL(visitor.page.url()).search).toBe('?page=2');
  });

  it('with a code after the password; a wrong one is said and does not begin anew', async () => {
    const { visitor, owner } = await challenged();
    await visitor.reaches('Second factor');
    await visitor.fill('Code', owner.wrongCode());
    await visitor.click('button', 'Sign in');
    await visitor.page.getByRole('alert').waitFor();
    await visitor.fill('Code', owner.code());
    await visitor.click('button', 'Sign in');
    await visitor.reaches(WELCOME);
  });

  it('with the link of an invitation, once', async () => {
    const admin = await founder(drawbridge, 'Drawbridge keepers');
    const address = email();
    await admin.client.created('/users', { email: address });
    const path = `/accept-invitation/${await mailedToken(drawbridge, address)}`;
    const visitor = await site.stranger(path);
    await visitor.reaches('Welcome to Drawbridge keepers');
    await visitor.shows(address);
    await visitor.fill('Your name', 'Ben');
    await visitor.fill('New password', PASSWORD);
    await visitor.click('button', 'Accept the invitation');
    await visitor.reaches(WELCOME);
    const other = await site.stranger();
    await other.page.goto(path);
    await other.page.getByRole('alert').waitFor();
  });
});

describeInBrowser('A sign-in of the console', () => {
  const drawbridge = Drawbridge.shared();
  const site = TestConsole.of(drawbridge);
  const REFRESH = '/api/v1/auth/refresh';

  it('is in a cookie that no script reads, and nowhere else', async () => {
    const owner = await accountOwner(drawbridge);
    const visitor = await site.stranger('/sign-in');
    const { page } = visitor;
    const answers = ['/auth/login', REFRESH].map(async (path) =>
      (await page.waitForResponse((response) => response.url().endsWith(path))).text(),
    );
    await visitor.fill('E-mail', owner.email);
    await visitor.fill('Password', owner.password);
    await visitor.click('button', 'Sign in');
    await visitor.reaches(WELCOME);
    await page.reload();
    const bodies = await Promise.all(answers);
    const cookies = await visitor.context.cookies();
    expect(cookies).toMatchObject([{ httpOnly: true, sameSite: 'Strict', path: '/' }]);
    const { value } = cookies[0]!;
    expect(value.length).toBeGreaterThan(20);
    const seen = await visitor.page.evaluate<string>(
      'document.cookie + JSON.stringify(localStorage) + JSON.stringify(sessionStorage) + location.href',
    );
    expect(seen).not.toContain(value);
    expect(await visitor.page.evaluate<string>('document.cookie')).toBe('');
    for (const body of bodies) {
      expect(body).toContain('"refreshToken":null');
      expect(body).not.toContain(value);
    }
  });

  it('shows a member no screen of administrators, whatever address is typed', async () => {
    const admin = await founder(drawbridge);
    const member = await newcomer(drawbridge, admin.client);
    const visitor = await site.signedIn(member, '/people');
    await visitor.reaches('For administrators');
    const menu = visitor.page.getByRole('navigation', { name: 'Screens' }).getByRole('link');
    expect(await menu.allInnerTexts()).toEqual(['Access', 'Requests', 'History', 'Account']);
  });
});
