import type { CloudDriver } from '../provider-driver';
import { duringTests, thrown } from '../scripted-server.testing';
import {
  GROUP,
  RULE_ID,
  ScriptedEndpoint,
  refusal,
  rule,
  listed,
  listShown,
  groupShown,
  target,
  formOf,
} from './aws.driver.testing';

describe('AWS driver: reading rules', () => {
  const endpoint = duringTests(new ScriptedEndpoint());
  let driver: CloudDriver;

  beforeEach(() => {
    driver = endpoint.newDriver();
  });

  it('reads all pages', async () => {
    endpoint.reply(
      listed([rule('sgr-1', '203.0.113.1/32')], 'more'),
      listed([rule('sgr-2', '203.0.113.2/32', '')]),
    );
    expect((await driver.readRules(target())).rules).toEqual([
      { key: '203.0.113.1/32 tcp 22', providerRuleId: 'sgr-1', ownRuleId: RULE_ID },
      { key: '203.0.113.2/32 tcp 22', providerRuleId: 'sgr-2', ownRuleId: null },
    ]);
    const [first, second] = endpoint.calls.map(formOf);
    expect(Object.fromEntries(first ?? [])).toMatchObject({
      'Filter.1.Name': 'group-id',
      'Filter.1.Value.1': GROUP,
      MaxResults: '1000',
    });
    expect(second?.get('NextToken')).toBe('more');
  });

  it('continues after an empty page with a next token', async () => {
    endpoint.reply(listed([], 'more'), listed([rule('sgr-2', '203.0.113.2/32', '')]));
    expect((await driver.readRules(target())).rules.map(({ providerRuleId }) => providerRuleId)).toEqual([
      'sgr-2',
    ]);
  });

  it('fails when a page token repeats', async () => {
    endpoint.respond = (_, response) => response.end(listed([], 'same'));
    expect((await thrown(driver.readRules(target()))).kind).toBe('transient');
    expect(endpoint.calls).toHaveLength(2);
  });

  it.each([
    [59, []],
    [60, [expect.stringContaining('60 inbound IPv4 rules: the group is full')]],
  ])('says at its verification that a group with %i rules is full', async (count, warnings) => {
    const rules = Array.from({ length: count }, (_, host) => rule(`sgr-${host}`, `203.0.113.${host}/32`));
    const isAllowed = refusal(412, 'DryRunOperation');
    endpoint.reply(groupShown, listed(rules), isAllowed, isAllowed);
    expect(await driver.verify(target(), {})).toEqual({ warnings });
  });

  it('counts as the quotas do: groups once for both IP versions, prefix lists as many as they may have', async () => {
    const from = (id: string, source: string): string =>
      rule(id, '').replace(/<cidrIpv4>.*<.cidrIpv4>/, source);
    const rules = [
      rule('sgr-1', '203.0.113.1/32'),
      from('sgr-2', '<cidrIpv6>2001:db8::1/128</cidrIpv6>'),
      from('sgr-3', '<referencedGroupInfo><groupId>sg-1</groupId></referencedGroupInfo>'),
      from('sgr-4', '<prefixListId>pl-1</prefixListId>'),
      from('sgr-5', '<prefixListId>pl-1</prefixListId>'),
      from('sgr-6', '<cidrIpv4>0.0.0.0/0</cidrIpv4>').replace('>false<', '>true<'),
    ];
    const size = { limit: 60, limitFrom: 'DEFAULT' };
    endpoint.reply(listed(rules), listShown(20), listed(rules));
    const known = [
      { family: 4, used: 42, ...size },
      { family: 6, used: 2, ...size },
    ];
    expect((await driver.readRules(target())).room).toEqual(known);
    expect((await driver.readRules(target())).room).toEqual(known);
    expect(endpoint.actions.filter((action) => action.includes('PrefixLists'))).toHaveLength(1);
    endpoint.reply(listed(rules), refusal(403, 'UnauthorizedOperation'));
    expect((await endpoint.newDriver().readRules(target())).room).toEqual([
      { family: 4, used: 2, ...size, isAtLeast: true },
      { family: 6, used: 2, ...size, isAtLeast: true },
    ]);
  });

  it('checks that the group exists when the list is empty', async () => {
    endpoint.reply(listed([]), groupShown, listed([]), refusal(400, 'InvalidGroup.NotFound'));
    expect((await driver.readRules(target())).rules).toEqual([]);
    expect((await thrown(driver.readRules(target()))).kind).toBe('target-missing');
  });

  it.each([
    ['an empty response', ''],
    ['a rule without an id', listed(['<item><isEgress>false</isEgress></item>'])],
  ])('never treats %s as an empty list', async (_, body) => {
    endpoint.reply(body);
    expect((await thrown(driver.readRules(target()))).kind).toBe('transient');
    endpoint.reply(body);
    expect((await thrown(driver.verify(target(), {}))).kind).toBe('transient');
  });
});
