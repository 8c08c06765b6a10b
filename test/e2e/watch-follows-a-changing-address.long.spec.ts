import { CLI_ADDRESS, CliBench } from '../builders/programs/cli-bench';
import type { Run } from '../harness/product/command-line';
import { hasFaketime, skewedClock } from '../harness/machines/skewed-clock';
import { until } from '../harness/until';

const OTHER = '198.51.100.77';
const WATCH = 'watch --interval 1 --lease 60';

describe('watch follows a changing address', () => {
  const bench = CliBench.own();

  const watch = async (command = WATCH): Promise<Run> => {
    const going = bench.cli.start(command);
    await going.prints(`access is held for ${CLI_ADDRESS} on resource-0 until `);
    await bench.allows(CLI_ADDRESS);
    return going;
  };

  it('the new address is allowed, the old one is not, and the end stays the same', async () => {
    const going = await watch(`${WATCH} --hours 3 --output json`);
    const [before] = await bench.live();
    expect((await bench.cli.run('list')).stdout).toMatch(/ \(in \d+ s\) unless renewed\n/);
    bench.proxy.addresses = [OTHER];
    await going.prints(`access for ${OTHER}`);
    await bench.allows(OTHER);
    const [after, ...others] = (await bench.live()).filter(({ status }) => status !== 'EXPIRING');
    expect(others).toEqual([]);
    expect(after).toMatchObject({ ipv4Address: OTHER, expiresAt: before!.expiresAt });
    expect(after!.id).not.toBe(before!.id);
    process.kill(going.pid, 'SIGINT');
    const { code, stdout, stderr } = await going.ended;
    expect(code).toBe(0);
    expect(stderr).toMatch(/the access is closed\n$/);
    expect(JSON.parse(stdout)).toEqual({ sessionId: after!.id, changes: 1 });
    expect((await bench.live()).filter(({ status }) => status !== 'EXPIRING')).toEqual([]);
  });

  it('a network that was away is followed when it is back, with another address', async () => {
    const going = await watch();
    const port = await bench.proxy.sever();
    await going.prints('cannot be reached');
    bench.proxy.addresses = [OTHER];
    await bench.proxy.restore(port);
    await going.prints(`access for ${OTHER}`);
    await bench.allows(OTHER);
    process.kill(going.pid, 'SIGTERM');
    expect((await going.ended).code).toBe(0);
  });

  (hasFaketime ? describe : describe.skip)('on a machine whose clock is wrong', () => {
    it.each([3, -3])(
      'by %i h, what is left alone or stopped elsewhere is held as long as asked',
      async (hours) => {
        const going = bench.cli.start(`${WATCH} --hours 1`, skewedClock(3_600 * hours));
        await going.prints('; Ctrl-C ends it');
        expect(going.stderr).toMatch(/ until \d\d:\d\d \(in (?:59 min|1 h)\), session /);
        const [session] = await bench.live();
        const { requests } = bench.proxy;
        const asked = requests.length;
        const count = (): number =>
          requests.slice(asked).filter((line) => line.endsWith('/detect-ip')).length;
        await until('it has asked three times', () => Promise.resolve(count() >= 3));
        expect((await bench.live()).map(({ id }) => id)).toEqual([session!.id]);
        await bench.org.admin.posted(`/sessions/${session!.id}/stop`);
        await going.prints('the access has ended');
        const again = await until('it is started again', async () =>
          (await bench.live()).find(({ id, status }) => id !== session!.id && status === 'ACTIVE'),
        );
        expect(Date.parse(again.expiresAt) - Date.parse(again.startedAt)).toBe(3_600_000);
        process.kill(going.pid, 'SIGINT');
        expect((await going.ended).code).toBe(0);
      },
    );
  });
});
