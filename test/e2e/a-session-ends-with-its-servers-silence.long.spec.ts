import { LoneHost } from '../builders/resources/lone-host';
import { ownOrganization } from '../builders/accounts/organization';
import { Drawbridge } from '../harness/product/drawbridge';
import { hasNetworks, sayNotTested, VISITOR } from '../harness/network/network';
import { until } from '../harness/until';

const onNetworks = hasNetworks ? describe : describe.skip;
if (!hasNetworks) sayNotTested('that sessions end on a host that cannot hear');

/** A stop cannot reach a host that cannot hear: what is open there ends by itself. */
onNetworks('A session on a host without its server', () => {
  const drawbridge = Drawbridge.shared();
  const org = ownOrganization(drawbridge, []);
  let lone: LoneHost;

  beforeAll(async () => {
    lone = await LoneHost.start(drawbridge, org, 'silent-1');
  });
  afterAll(() => lone.end());

  it('that is silent for longer than the session allows: it ends, and is back with the server; a static rule stays', async () => {
    const agent = await lone.served();
    // shorter than the API accepts
    await drawbridge.query(
      `UPDATE resources SET config = config || '{"maxSilenceSeconds": 6}' WHERE id = $1`,
      [lone.host.resourceId],
    );
    const range = { label: 'office', ipAddress: VISITOR.otherIpv4, resourceIds: [lone.host.resourceId] };
    await org.admin.created('/static-ip-rules', range);
    const elsewhere = { ...lone.place, from: VISITOR.otherIpv4 };
    await until('the range is let in', () => lone.network.visitor.reaches(elsewhere));
    await lone.active();
    lone.disconnect();
    await lone.closes();
    expect(await lone.network.visitor.reaches(elsewhere)).toBe(true);
    await agent.says('The server is silent: 1 rules were closed before their end');
    lone.isServerAway = false;
    await until('the session is let in again', () => lone.isOpen());
  });
});
