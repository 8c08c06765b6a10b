export { isRunning } from '../../../apps/launcher/src/processes';
import { AddressProxy } from '../../harness/network/address-proxy';
import { CommandLine } from '../../harness/product/command-line';
import { Drawbridge } from '../../harness/product/drawbridge';
import type { SharedOptions } from '../../harness/product/shared-products';
import type { OpenRule } from '../../harness/product/simulator-client';
import type { Session } from '../../harness/product/api-client';
import { until } from '../../harness/until';
import { group, organization, type Organization } from '../accounts/organization';

export const CLI_ADDRESS = '203.0.113.7';

/** A running product, an organization with one resource, and a machine with the command line and an API key. */
export class CliBench {
  private constructor(
    readonly drawbridge: Drawbridge,
    readonly org: Organization,
    readonly proxy: AddressProxy,
    readonly key: string,
    readonly cli: CommandLine,
  ) {}

  static async start(options: SharedOptions = {}): Promise<CliBench> {
    const drawbridge = await Drawbridge.borrowed({ limitedAsShipped: true, ...options });
    const org = await organization(drawbridge);
    const proxy = await AddressProxy.start(drawbridge.apiServer.port, CLI_ADDRESS);
    const scopes = ['sessions:write', 'sessions:read', 'resources:read'];
    const key = await org.plainKey(scopes, { name: 'of the bench' });
    const cli = new CommandLine({ DRAWBRIDGE_URL: proxy.url, DRAWBRIDGE_API_KEY: key });
    return new CliBench(drawbridge, org, proxy, key, cli);
  }

  /** For the tests of a file: each of them ends without runs, rules and faults. */
  static own(): CliBench {
    const bench = Object.create(CliBench.prototype) as CliBench;
    beforeAll(async () => void Object.assign(bench, await CliBench.start()));
    afterEach(() => bench.reset());
    afterAll(() => bench.stop());
    return bench;
  }

  private async reset(): Promise<void> {
    Object.assign(this.proxy, { answerInstead: null, addresses: [CLI_ADDRESS] });
    await this.drawbridge.cloud.clearFaults();
    await this.cli.endRuns();
    for (const { id } of await this.live()) await this.org.admin.posted(`/sessions/${id}/stop`);
    await this.allows();
    // the rules go first
    await until('no session is left', async () => (await this.live()).length === 0);
  }

  async stop(): Promise<void> {
    await this.cli.remove();
    await this.proxy.stop();
    await this.drawbridge.stop();
  }

  rules(): Promise<OpenRule[]> {
    return this.drawbridge.cloud.rules(group(0));
  }

  /** Waits until these addresses have a rule, and no others. */
  allows(...addresses: readonly string[]): Promise<boolean> {
    const expected = addresses.toSorted().join();
    let allowed = '';
    return until(
      () => `only ${expected || 'nobody'} is allowed, not ${allowed || 'nobody'}`,
      async () => {
        const rules = await this.rules();
        allowed = rules
          .map(({ address }) => address)
          .toSorted()
          .join();
        return allowed === expected;
      },
    );
  }

  /** The organization's live sessions. */
  async live(): Promise<Session[]> {
    const { admin } = this.org;
    return admin.read<Session[]>('/sessions?active=true&size=100');
  }
}
