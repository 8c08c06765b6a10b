import { organization, type Organization } from '../builders/accounts/organization';
import { newcomer, PASSWORD } from '../builders/accounts/people';
import { describeInBrowser, type Visitor } from '../harness/console/browser';
import { TestConsole } from '../harness/console/console';
import { Drawbridge } from '../harness/product/drawbridge';

describeInBrowser('The console overwrites nothing without a word', () => {
  const drawbridge = Drawbridge.shared();
  const site = TestConsole.of(drawbridge);
  let org: Organization;

  beforeAll(async () => {
    org = await organization(drawbridge);
  });

  const at = async (path: string): Promise<Visitor> => {
    const { email } = await newcomer(drawbridge, org.admin, { isOrgAdmin: true });
    const visitor = await site.signedIn({ email, password: PASSWORD });
    await visitor.goto(site.url(path));
    return visitor;
  };
  const change = (path: string, body: object): Promise<unknown> =>
    org.admin.expect(200, org.admin.patch(path, body));
  const read = (path: string): Promise<object> => org.admin.expect(200, org.admin.get<object>(path));

  it('what moves or widens access says so, with the sessions that are open, before the second click does it', async () => {
    const [id] = org.resourceIds;
    const { id: sessionId } = await org.started({});
    await org.reaches(sessionId, 'ACTIVE');
    const visitor = await at(`/resources/${id}?tab=settings`);
    await visitor.fill('Port', '');
    await visitor.click('button', 'Save');
    const question = 'Without ports, it opens every port. The rules of 1 open session follow.';
    await visitor.page.getByText(question).waitFor();
    expect(await read(`/resources/${id}`)).toMatchObject({ config: { port: 22 } });
    await visitor.click('button', 'Save');
    await visitor.page.getByText('Saved.').waitFor();
    expect(await read(`/resources/${id}`)).not.toHaveProperty('config.port');
    expect(visitor.complaints).toEqual([]);
  });

  it('what another administrator changed meanwhile is told at its field, once, and nothing is saved before', async () => {
    const path = `/roles/${org.roleId}`;
    const visitor = await at(path);
    await visitor.fill('Name', 'Operators');
    await change(path, { approvals: 1, reasonPattern: 'INC-*', requireReason: true });
    await visitor.click('button', 'Save');
    await visitor.page.getByText(/^Approvals by others was changed by another person meanwhile/).waitFor();
    expect(await read(path)).toMatchObject({ name: 'Developers', approvals: 1 });
    await visitor.page.getByLabel('Approvals by others').selectOption('2');
    await visitor.click('button', 'Save');
    await visitor.page.getByText('Saved.').waitFor();
    expect(await read(path)).toMatchObject({ name: 'Operators', approvals: 2 });
    expect(visitor.complaints).toEqual([]);
  });
});
