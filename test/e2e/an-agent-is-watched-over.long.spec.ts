import { LoneHost } from '../builders/resources/lone-host';
import { ownOrganization } from '../builders/accounts/organization';
import { Drawbridge } from '../harness/product/drawbridge';
import { hasNetworks, sayNotTested } from '../harness/network/network';
import { hasServiceManager, ServiceManagerSocket } from '../harness/machines/service-manager';
import { until } from '../harness/until';

const onNetworks = hasNetworks ? describe : describe.skip;
if (!hasNetworks) sayNotTested('an agent under systemd');
const onServiceManager = hasServiceManager ? describe : describe.skip;
if (!hasServiceManager)
  process.stderr.write('\n*** no systemd-notify or python3: the watchdog WAS NOT TESTED ***\n\n');

onNetworks('An agent is watched over', () => {
  const drawbridge = Drawbridge.shared();
  const org = ownOrganization(drawbridge, []);
  let lone: LoneHost;
  let hosts = 0;

  beforeEach(async () => {
    lone = await LoneHost.start(drawbridge, org, `watched-${(hosts += 1)}`);
  });
  afterEach(() => lone.end());

  onServiceManager('by systemd', () => {
    it('tells when it serves, and that it does not hang', async () => {
      const manager = await ServiceManagerSocket.start(lone.network);
      try {
        const env = { NOTIFY_SOCKET: manager.path, WATCHDOG_USEC: '900000' };
        const agent = await lone.served({ env });
        await manager.hears('READY=1');
        await manager.hears('WATCHDOG=1', 3);
        process.kill(agent.pid, 'SIGSTOP');
        const isSilent = await until('nothing is on its way any more', async () => {
          const before = manager.count('WATCHDOG=1');
          await new Promise((passed) => setTimeout(passed, 1000));
          return manager.count('WATCHDOG=1') === before;
        });
        expect(isSilent).toBe(true);
      } finally {
        manager.stop();
      }
    });
  });

  it('its log says who was let in, in which session and for how long', async () => {
    const agent = await lone.served();
    const id = await lone.active();
    await lone.stop(id);
    await lone.closes();
    expect(agent.output).toMatch(
      new RegExp(`Opened: .* to tcp ${lone.place.port} \\(.*@.*, session ${id}\\) for `),
    );
    expect(agent.output).toMatch(
      new RegExp(`Closed: .* to tcp ${lone.place.port} \\(.*session ${id}\\) after \\d+ s`),
    );
  });
});
