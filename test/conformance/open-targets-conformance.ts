import type { ResourceConfig } from '#rules';
import { thrown } from './driver-actions';
import type { DriverSuite } from './driver-suite';

/** A target where the rules of sessions would restrict nothing is refused; none becomes one when its last rule goes. */
export function describeOpenTargets(suite: DriverSuite): void {
  const { specOf, addOne, apply, addresses } = suite.actions;
  const verify = (config: ResourceConfig = suite.bench.cloud.ports ? { port: 22 } : {}): Promise<unknown> =>
    thrown(suite.bench.driver.verify(suite.target, config));
  const open = (address: string): Promise<void> =>
    suite.bench.addUnmanaged(suite.target, { address, port: 22, description: 'everybody' });
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

    it('do not result from the removal of the last rule', async () => {
      const { id } = await addOne(specOf('203.0.113.7/32'));
      await apply([{ action: 'remove', ruleId: 'any', providerRuleId: id }]);
      expect(await addresses()).toEqual([]);
      expect(await verify()).toBe('no error');
    });
  });
}
