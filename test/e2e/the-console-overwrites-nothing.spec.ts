import { ownOrganization } from '../builders/accounts/organization';
import { newcomer } from '../builders/accounts/people';
import { describeInBrowser, type Visitor } from '../harness/console/browser';
import { TestConsole } from '../harness/console/console';
import { Drawbridge } from '../harness/product/drawbridge';

describeInBrowser('The console overwrites nothing without a word', () => {
  const drawbridge = Drawbridge.shared();
  const site = TestConsole.of(drawbridge);
  const org = ownOrganization(drawbridge);

  const at = async (path: string): Promise<Visitor> =>
    site.signedIn(await newcomer(drawbridge, org.admin, { isOrgAdmin: true }), path);
  const read = (path: string): Promise<object> => org.admin.read<object>(path);

  it('what moves or widens access says so, with the sessions that are open, before the second click does it', async () => {
    const [id] = org.resourceIds;
    const { id: sessionId } = await org.started({});
    await org.reaches(sessionId, 'ACTIVE');
    const visitor = await at(`/resources/${id}?tab=settings`);
    await visitor.fill('Port', '');
    await visitor.click('button', 'Save');
    const question = 'Without ports, it opens every port. The rules of 1 open session follow.';
    await visitor.shows(question);
    expect(await read(`/resources/${id}`)).toMatchObject({ config: { port: 22 } });
    await visitor.click('button', 'Save');
    await visitor.shows('Saved.');
    expect(await read(`/resources/${id}`)).not.toHaveProperty('config.port');
    expect(visitor.complaints).toEqual([]);
  });

  it('what another administrator changed meanwhile is told at its field, once, and nothing is saved before', async () => {
    const path = `/roles/${org.roleId}`;
    const visitor = await at(path);
    await visitor.fill('Name', 'Operators');
    await org.admin.patched(path, { approvals: 1, reasonPattern: 'INC-*', requireReason: true });
    await visitor.click('button', 'Save');
    await visitor.shows(/^Approvals by others was changed by another person meanwhile/);
    expect(await read(path)).toMatchObject({ name: 'Developers', approvals: 1 });
    await visitor.page.getByLabel('Approvals by others').selectOption('2');
    await visitor.click('button', 'Save');
    await visitor.shows('Saved.');
    expect(await read(path)).toMatchObject({ name: 'Operators', approvals: 2 });
    expect(visitor.complaints).toEqual([]);
  });
});
