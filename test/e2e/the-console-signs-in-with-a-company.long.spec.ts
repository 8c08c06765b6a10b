import { mailedToken } from '../builders/accounts/accounts';
import { organization, sshTo } from '../builders/accounts/organization';
import { founder, newcomer, type Person } from '../builders/accounts/people';
import { describeInBrowser, type Visitor } from '../harness/console/browser';
import { TestConsole } from '../harness/console/console';
import { Drawbridge } from '../harness/product/drawbridge';
import { until } from '../harness/until';

describeInBrowser('The console signs in with a company', () => {
  const drawbridge = Drawbridge.shared();
  const site = TestConsole.of(drawbridge);
  let issuer: { issuer: string; clientId: string; clientSecret: string };
  /** that has it set up */
  let company: Person;

  beforeAll(async () => {
    issuer = (await (await fetch(`${drawbridge.cloud.url}/_issuer`)).json()) as typeof issuer;
    company = await founder(drawbridge, 'Company');
    await company.client.created('/identity-providers', {
      ...issuer,
      name: 'Simulated',
      emailDomains: ['demo.example'],
      createUsers: true,
    });
  });

  /** As far as the page of the issuer. */
  const leaves = async (path: string, slug = company.organizationSlug): Promise<Visitor> => {
    const visitor = await site.stranger(path);
    await visitor.click('link', 'Sign in with your company');
    await visitor.fill('Organization', slug);
    await visitor.click('button', 'Continue');
    await visitor.reaches('Simulated identity provider');
    return visitor;
  };

  it('that an administrator sets up and tests; its people get in, with the roles of their groups', async () => {
    const org = await organization(drawbridge, sshTo(1));
    const keeper = await newcomer(drawbridge, org.admin, { isOrgAdmin: true });
    const { organizationSlug: slug } = keeper;
    const admin = await site.signedIn(keeper, '/organization?tab=company-sign-in');
    await admin.click('link', 'Add a provider');
    const redirect = await admin.page.getByRole('region', { name: 'Redirect URI' }).innerText();
    expect(redirect.trim()).toBe(site.url(`/api/v1/auth/sso/${slug}/callback`));
    await admin.fill('Name', 'Simulated');
    await admin.fill('Issuer', 'http://10.0.0.1/');
    await admin.fill('Client ID', issuer.clientId);
    await admin.fill('Client secret', issuer.clientSecret);
    await admin.fill('E-mail domains', 'demo.example');
    await admin.click('checkbox', 'People of these domains need no invitation');
    await admin.fill('Groups claim', 'groups');
    await admin.click('button', 'Add the provider');
    await admin.click('button', 'Test it');
    await admin.shows('It does not work yet');
    await admin.fill('Issuer', issuer.issuer);
    await admin.click('button', 'Save');
    await admin.shows('Saved.');
    await admin.click('button', 'Test it');
    await admin.shows('It is set up');
    await admin.click('button', 'Add a group');
    await admin.fill('Group', 'developers');
    await admin.page.getByLabel('Gets').selectOption(org.roleId);
    await admin.click('button', 'Save the groups');
    await admin.shows('Saved.');

    const person = await leaves('/history?page=2', slug);
    await person.click('button', /^Demo Developer/);
    await person.reaches('History');
    expect(person.page.url()).toBe(site.url('/history?page=2'));
    await person.goto('/');
    await person.click('button', 'Let me in');
    await person.reaches(/^Open until/, 2);
    expect(person.complaints).toEqual([]);

    await admin.goto('/people');
    await admin.click('link', 'Demo Developer');
    await admin.shows('Simulated');
    expect(admin.complaints).toEqual([]);
  });

  it('with the link of an invitation, which offers it before a password', async () => {
    const email = 'guest@demo.example';
    const { id } = await company.client.created('/users', { email });
    const visitor = await site.stranger(`/accept-invitation/${await mailedToken(drawbridge, email)}`);
    await visitor.reaches('Welcome to Company');
    expect(await visitor.page.getByLabel('New password').isVisible()).toBe(false);
    await visitor.click('link', 'Sign in with your company');
    await visitor.click('button', 'Continue');
    await visitor.click('button', /^Demo Guest/);
    await visitor.page.getByRole('heading', { level: 1 }).waitFor();
    await until('the invitation is accepted', async () => {
      const { body } = await company.client.get<{ identityProviders: string[] }>(`/users/${id}`);
      return body.identityProviders.includes('Simulated');
    });
    expect(visitor.complaints).toEqual([]);
  });

  it('not where browsers allow none: there the link of an invitation asks for a password', async () => {
    const email = 'insecure@demo.example';
    await company.client.created('/users', { email });
    const visitor = await site.stranger();
    await visitor.page.addInitScript(() =>
      Object.defineProperty(window, 'isSecureContext', { value: false }),
    );
    await visitor.goto(`/accept-invitation/${await mailedToken(drawbridge, email)}`);
    await visitor.page.getByLabel('New password').waitFor();
    expect(await visitor.page.getByRole('link', { name: 'Sign in with your company' }).count()).toBe(0);
  });

  it('says what went wrong, and begins again', async () => {
    const visitor = await leaves('/');
    await visitor.click('button', 'Cancel');
    await visitor.reaches('You are not signed in');
    await visitor.click('link', 'Start again');
    await visitor.reaches('Sign in with your company');
    expect(await visitor.page.getByLabel('Organization').inputValue()).toBe(company.organizationSlug);
    await visitor.fill('Organization', 'nobody-at-all');
    await visitor.click('button', 'Continue');
    await visitor.shows('has no company sign-in');
  });

  it.each([
    ['an answer that this tab did not ask for', '/sign-in/sso#code=stolen', 'was not started in this tab'],
    ['the text of a link', '/sign-in/sso#error=refused&message=Call+us', 'was not started in this tab'],
    ['a code for a terminal', '/sign-in/sso-code#code=one-time', 'only if you started this sign-in yourself'],
  ])('takes %s out of the address, and uses it for nothing', async (_, path, text) => {
    const visitor = await site.stranger();
    const requests: string[] = [];
    visitor.page.on('request', (request) => requests.push(request.url()));
    await visitor.goto(path);
    await visitor.shows(text);
    expect(visitor.page.url()).toBe(site.url(path.replace(/#.*/, '')));
    expect(requests.filter((url) => url.includes('/api/'))).toEqual([]);
    expect(await visitor.page.getByText('Call us').count()).toBe(0);
  });

  it.each([
    '//elsewhere.example/',
    '/\\elsewhere.example/',
    '/\t/elsewhere.example/',
    'https://elsewhere.example/',
  ])('leads nowhere else afterwards: %j', async (next) => {
    const visitor = await leaves(`/sign-in?next=${encodeURIComponent(JSON.stringify(next))}`);
    await visitor.click('button', /^Demo Developer/);
    await visitor.reaches('Access');
    expect(visitor.page.url()).toBe(site.url('/'));
  });
});
