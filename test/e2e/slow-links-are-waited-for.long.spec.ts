import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { CLI_ADDRESS, CliBench } from '../builders/programs/cli-bench';
import { CLI } from '../harness/product/command-line';
import { hasNetworks, HOST, Network, sayNotTested } from '../harness/network/network';

if (!hasNetworks) sayNotTested('a slow link without IPv6');

/** Both addresses of a name, of which the visitor has a way to the first only. */
const NAME = 'slow.example.test';
const HOSTS = `${HOST.ipv4} ${NAME}\n2001:db8::1 ${NAME}\n127.0.0.1 localhost\n`;

(hasNetworks ? describe : describe.skip)(
  'Over a link on which a connection takes a second, without IPv6',
  () => {
    let bench: CliBench;
    let network: Network;
    let port: number;

    beforeAll(async () => {
      bench = await CliBench.start();
      network = await Network.start();
      port = Number(new URL(await network.reachable(() => bench.proxy.port, HOST.ipv4)).port);
      network.delayConnections(port);
    });
    afterAll(async () => {
      network.stop();
      await bench.stop();
    });

    const run = async (...args: readonly string[]): Promise<string> => {
      const [program, all] = network.onVisitor(HOSTS, process.execPath, CLI, ...args);
      const env = { ...bench.cli.environment, DRAWBRIDGE_URL: `http://${NAME}:${port}` };
      return (await promisify(execFile)(program, all, { env })).stdout;
    };

    it('a server with an IPv6 address too is reached, by every kind of request', async () => {
      expect(await run('ip')).toBe(`${CLI_ADDRESS}\n`);
      expect(await run('list')).toBe('No session.\n');
    });

    it('and so is what --probe and connect want to reach', async () => {
      const probe = `${NAME}:${port}`;
      expect(await run('run', '--probe', probe, '--', 'echo', 'ran')).toBe('ran\n');
    });
  },
);
