import { accountOwner, mailedToken, totpOf } from '../builders/accounts/accounts';
import { founder } from '../builders/accounts/people';
import { consoleSignIn } from '../builders/console/sign-in';
import { describeInBrowser } from '../harness/console/browser';
import { TestConsole } from '../harness/console/console';
import { Drawbridge } from '../harness/product/drawbridge';
import { until } from '../harness/until';

const NEW_PASSWORD = 'Another-horse-2';
const WELCOME = 'Access';

describeInBrowser('The console signs in, too,', () => {
  const drawbridge = Drawbridge.shared();
  const site = TestConsole.of(drawbridge);
  const { signingIn, challenged } = consoleSignIn(drawbridge, site);

  it('with a recovery code when the authenticator is lost', async () => {
    const { visitor, owner } = await challenged();
    await visitor.click('button', /recovery code/);
    await visitor.fill('Recovery code', owner.recoveryCodes[0]!);
    await visitor.click('button', 'Sign in');
    await visitor.reaches(WELCOME);
  });

  it('after setting up a second factor, where the organization requires one', async () => {
    const owner = await accountOwner(drawbridge);
    await owner.organizationSets('mfa_required', true);
    const visitor = await signingIn(owner);
    await visitor.reaches('Set up a second factor');
    // nothing else is open before
    await visitor.goto('/people');
    await visitor.reaches('Set up a second factor');
    const { page } = visitor;
    await page.getByRole('img', { name: /QR code/ }).waitFor();
    const width = await page.evaluate<number>(`document.querySelector('img[alt^="QR code"]').naturalWidth`);
    expect(width).toBeGreaterThan(0);
    await page.getByText('No camera?').click();
    const secret = await page.getByRole('region', { name: 'Secret' }).innerText();
    await visitor.fill('Code', totpOf(secret.trim()).generate());
    await visitor.click('button', 'Turn on the second factor');
    const codes = await page.getByRole('region', { name: 'Recovery codes' }).innerText();
    expect(codes.trim().split('\n').length).toBeGreaterThan(5);
    await visitor.click('button', 'I have put them away');
    await visitor.reaches(WELCOME);
  });

  it('with a new password when the old one has expired', async () => {
    const owner = await accountOwner(drawbridge);
    await owner.organizationSets('password_expiration_days', 1);
    await drawbridge.query(`UPDATE users SET password_changed_at = now() - interval '2 days' WHERE id = $1`, [
      owner.id,
    ]);
    const visitor = await signingIn(owner);
    await visitor.reaches('Your password has expired');
    await visitor.fill('New password', 'short');
    await visitor.click('button', 'Set the password and sign in');
    await visitor.page.locator('[aria-invalid=true]').waitFor();
    await visitor.fill('New password', NEW_PASSWORD);
    await visitor.click('button', 'Set the password and sign in');
    await visitor.reaches(WELCOME);
  });

  it('with a mailed link when the password is forgotten', async () => {
    const person = await founder(drawbridge);
    const visitor = await site.stranger('/sign-in');
    await visitor.click('link', 'Forgot your password?');
    await visitor.reaches('Forgot your password?');
    await visitor.fill('E-mail', person.email);
    await visitor.page.getByRole('button').click();
    await visitor.goto(`/reset-password/${await mailedToken(drawbridge, person.email)}`);
    await visitor.fill('New password', NEW_PASSWORD);
    await visitor.click('button', 'Set the password and sign in');
    await visitor.reaches(WELCOME);
  });

  it('with the link that a start prints, whose token leaves the address', async () => {
    const { refreshToken } = await founder(drawbridge);
    const visitor = await site.stranger(`/sign-in#refreshToken=${refreshToken}`);
    await visitor.reaches(WELCOME);
    expect(visitor.page.url()).toBe(site.url('/'));
  });

  it('for twelve hours without activity at most', async () => {
    const visitor = await site.signedIn(await accountOwner(drawbridge));
    await visitor.page.clock.install();
    await visitor.goto('/history');
    const untouched = await visitor.context.newPage();
    await untouched.goto('/history');
    await untouched.getByRole('heading', { level: 1, name: 'History' }).waitFor();
    await visitor.page.clock.fastForward('11:59:00');
    await visitor.page.keyboard.press('Shift');
    await visitor.page.clock.fastForward('11:59:00');
    // as long as a sign-out takes
    await visitor.page.waitForTimeout(500);
    for (const page of [visitor.page, untouched])
      await page.getByRole('heading', { level: 1, name: 'History' }).waitFor();
    await visitor.page.clock.fastForward('00:02:00');
    await visitor.shows('twelve hours without activity');
    await visitor.page.reload();
    await visitor.reaches('Sign in');
  });
});

describeInBrowser('A sign-in of the console', () => {
  const drawbridge = Drawbridge.shared();
  const site = TestConsole.of(drawbridge);
  const REFRESH = '/api/v1/auth/refresh';

  it('is of no use to a page of another origin, even of this host', async () => {
    const visitor = await site.signedIn(await founder(drawbridge), '/');
    const statuses: number[] = [];
    const attackFrom = async (origin: string): Promise<void> => {
      const other = await visitor.context.newPage();
      await other.route(`${origin}/`, (route) => route.fulfill({ contentType: 'text/html', body: '<h1>x' }));
      await other.goto(`${origin}/`);
      other.on('response', (response) => {
        if (response.request().method() === 'POST') statuses.push(response.status());
      });
      const asConsole = { 'Content-Type': 'application/json', 'X-Drawbridge-Console': '1' };
      // the second is what a browser sends without asking first
      for (const [mode, headers] of [
        ['cors', asConsole],
        ['no-cors', { 'Content-Type': 'text/plain' }],
      ] as const) {
        const outcome = await other.evaluate(`fetch('${site.url(REFRESH)}', {
          method: 'POST', mode: '${mode}', credentials: 'include', headers: ${JSON.stringify(headers)}, body: '{}',
        }).then((answer) => answer.status, () => 'refused')`);
        expect(outcome).toBe('refused');
      }
      // a form needs no permission at all, and follows the answer
      await other.evaluate(`(() => {
        const form = Object.assign(document.createElement('form'), { method: 'post', action: '${site.url(REFRESH)}' });
        document.body.append(form);
        form.submit();
      })()`);
      await other.waitForURL(site.url(REFRESH));
      await other.close();
    };
    await attackFrom('http://localhost:7654');
    await attackFrom('http://elsewhere.example');
    expect(statuses.length).toBeGreaterThanOrEqual(2);
    expect(statuses.filter((status) => status < 400)).toEqual([]);
    await visitor.page.reload();
    await visitor.reaches(WELCOME);
  });

  it('serves two tabs that refresh at the same moment', async () => {
    const visitor = await site.signedIn(await founder(drawbridge));
    const tabs = [visitor.page, await visitor.context.newPage()];
    for (let round = 0; round < 3; round += 1) {
      await Promise.all(tabs.map((tab) => tab.goto('/history')));
      for (const tab of tabs) await tab.getByRole('heading', { level: 1, name: 'History' }).waitFor();
    }
    expect(visitor.complaints).toEqual([]);
  });

  it('ends in all tabs when it is ended in one', async () => {
    const visitor = await site.signedIn(await founder(drawbridge), '/');
    const other = await visitor.context.newPage();
    await other.goto('/history');
    await other.getByRole('heading', { level: 1, name: 'History' }).waitFor();
    await visitor.click('button', 'Sign out');
    await visitor.reaches('Sign in');
    // sooner than it asks the server for anything
    await other.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
    await until('the cookie is gone', async () => (await visitor.context.cookies()).length === 0);
  });
});
