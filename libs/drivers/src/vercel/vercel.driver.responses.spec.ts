import type { CloudDriver } from '../provider-driver';
import { thrown, type Reply } from '../scripted-server.testing';
import { ADDRESS, target, guard, config, READ, FIND, VercelFixture } from './vercel.driver.testing';

describe('Vercel driver: unexpected responses', () => {
  const fixture = new VercelFixture();
  const { vercel } = fixture;
  let driver: CloudDriver;

  beforeEach(() => {
    driver = fixture.newDriver();
  });

  describe('malformed responses', () => {
    it.each([
      ['no rules', { body: { firewallEnabled: true } }],
      ['rules that are not a list', { body: { firewallEnabled: true, rules: {} } }],
      ['a rule without an id', config({ name: 'x' })],
      ['no firewallEnabled', { body: { rules: [] } }],
      ['another format', { body: { active: { firewallEnabled: true, rules: [] } } }],
    ] as [string, Reply][])('to a read are transient: %s', async (_, reply) => {
      vercel.on(READ, reply);
      expect(await thrown(driver.readRules(target()))).toMatchObject({ kind: 'transient', settled: false });
    });

    it('with another project id are rejected', async () => {
      vercel.on(READ, config()).on(FIND, { body: { id: 'prj_two' } });
      expect((await thrown(driver.verify(target(), {}))).kind).toBe('transient');
    });

    it.each([
      ['values that are not strings', [7], []],
      ['values that are not addresses', ['example.com', '203.0.113.7'], [ADDRESS]],
      ['a string instead of a list', '203.0.113.7', [ADDRESS]],
      [
        'addresses in other spellings',
        ['2001:DB8:0::7', '203.0.113.9/24'],
        ['2001:db8::7/128', '203.0.113.0/24'],
      ],
    ])('with a guard that has %s are read as far as possible', async (_, value, addresses) => {
      const conditionGroup = [{ conditions: [{ type: 'ip_address', op: 'ninc', value }] }];
      vercel.on(READ, config(guard([], { conditionGroup })));
      const observed = (await driver.readRules(target())).rules;
      expect(observed.map(({ key }) => key)).toEqual(addresses.map((address) => `${address} all *`));
    });
  });
});
