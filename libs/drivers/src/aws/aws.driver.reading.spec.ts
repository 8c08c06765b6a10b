import type { CloudDriver } from '../provider-driver';
import { duringTests, thrown } from '../scripted-server.testing';
import {
  GROUP,
  RULE_ID,
  ScriptedEndpoint,
  refusal,
  rule,
  listed,
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
    expect(await driver.readRules(target())).toEqual([
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
    expect((await driver.readRules(target())).map(({ providerRuleId }) => providerRuleId)).toEqual(['sgr-2']);
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

  it('checks that the group exists when the list is empty', async () => {
    endpoint.reply(listed([]), groupShown, listed([]), refusal(400, 'InvalidGroup.NotFound'));
    expect(await driver.readRules(target())).toEqual([]);
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
