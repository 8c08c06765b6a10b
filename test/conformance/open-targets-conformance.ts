import { DriverError } from '#drivers';
import type { ResourceConfig } from '#rules';
import { remove, thrown } from './driver-actions';
import type { UnmanagedRule } from './driver-bench';
import type { DriverSuite } from './driver-suite';

/** A target where the rules of sessions would restrict nothing is refused; none becomes one when its last rule goes. */
export function describeOpenTargets(suite: DriverSuite): void {
  const { specOf, addOne, apply, addresses } = suite.actions;
  /** A comparison says the same as a verification, in the same words. */
  const verify = async (
    config: ResourceConfig = suite.bench.cloud.ports ? { port: 22 } : {},
  ): Promise<unknown> => {
    const { driver } = suite.bench;
    const refusal = await driver.verify(suite.target, config).then(
      () => null,
      (error: unknown) => error,
    );
    const { explainOpen } = await driver.inspect(suite.target);
    expect(explainOpen(config)).toBe(refusal instanceof DriverError ? refusal.message : null);
    return thrown(refusal === null ? Promise.resolve() : Promise.reject(refusal));
  };
  const open = (address: string, rule: Partial<UnmanagedRule> = {}): Promise<void> =>
    suite.bench.addUnmanaged(suite.target, { address, port: 22, description: 'everybody', ...rule });
  const deny = (address: string, rule: Partial<UnmanagedRule> = {}): Promise<void> =>
    open(address, { access: 'deny', ...rule });
  const isIpv4Only = (): boolean => suite.bench.cloud.singleIpVersion === true;

  describe('targets that let everybody in', () => {
    it('are refused by verify', async () => {
      expect(await verify()).toBe('no error');
      await open('0.0.0.0/0');
      expect(await verify()).toBe('invalid');
    });

    it('are refused for one IP version, and when two rules together let everybody in', async () => {
      if (!isIpv4Only()) {
        await open('::/0');
        expect(await verify()).toBe('invalid');
        await suite.bench.reset();
      }
      await open('0.0.0.0/1');
      expect(await verify()).toBe('no error');
      await open('128.0.0.0/1');
      expect(await verify()).toBe('invalid');
    });

    it('are accepted for other ports, and with all ports of the protocol', async () => {
      if (!suite.bench.cloud.ports) return;
      await open('0.0.0.0/0');
      expect(await verify({ port: 23 })).toBe('no error');
      expect(await verify({ port: 22, protocol: 'udp' })).toBe('no error');
      expect(await verify({})).toBe('no error');
      expect(await verify({ ports: [443, 22] })).toBe('invalid');
    });

    it('are refused for a rule of every protocol that has the port', async () => {
      if (!suite.bench.cloud.ports) return;
      await open('0.0.0.0/0', { protocol: 'all' });
      expect(await verify()).toBe('invalid');
      expect(await verify({ port: 22, protocol: 'udp' })).toBe('invalid');
    });

    it('are refused when only addresses that are not routed on the internet are missing', async () => {
      for (const address of ['0.0.0.0/1', '128.0.0.0/2']) await open(address);
      expect(await verify()).toBe('no error');
      await open('192.0.0.0/3');
      expect(await verify()).toBe('invalid');
    });

    it('are accepted when what lets everybody in comes after a denial of that', async () => {
      if (!suite.bench.cloud.denials) return;
      await deny('0.0.0.0/0', { priority: 200 });
      await open('0.0.0.0/0', { priority: 300 });
      expect(await verify()).toBe('no error');
      await open('0.0.0.0/0', { priority: 199 });
      expect(await verify()).toBe('invalid');
    });

    it('are refused when a denial before it is for another IP version, another port or some addresses', async () => {
      if (!suite.bench.cloud.denials) return;
      await deny('::/0', { priority: 200, protocol: 'all' });
      await deny('0.0.0.0/0', { priority: 201, port: 443 });
      await deny('0.0.0.0/1', { priority: 202 });
      await open('0.0.0.0/0', { priority: 300 });
      expect(await verify({ ports: [443, 22] })).toBe('invalid');
      expect(await verify({ port: 443 })).toBe('no error');
      await deny('128.0.0.0/1', { priority: 203 });
      expect(await verify({ ports: [443, 22] })).toBe('no error');
    });

    it('are judged as a whole: rules for a part of the target neither open nor close it', async () => {
      const { denials } = suite.bench.cloud;
      if (!denials) return;
      await open('0.0.0.0/0', { priority: 300, ...denials });
      expect(await verify()).toBe('no error');
      await deny('0.0.0.0/0', { priority: 200, ...denials });
      await open('0.0.0.0/0', { priority: 301 });
      expect(await verify()).toBe('invalid');
    });

    it('do not result from the removal of the last rule', async () => {
      const { id } = await addOne(specOf('203.0.113.7/32'));
      await apply([remove(id)]);
      expect(await addresses()).toEqual([]);
      expect(await verify()).toBe('no error');
    });
  });
}
