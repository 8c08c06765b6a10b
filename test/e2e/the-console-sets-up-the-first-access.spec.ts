import type { Schemas } from '#client';
import { group, SIMULATED_KEY } from '../builders/accounts/organization';
import { email, founder, PASSWORD } from '../builders/accounts/people';
import { describeInBrowser, type Visitor } from '../harness/console/browser';
import { TestConsole } from '../harness/console/console';
import { Drawbridge } from '../harness/product/drawbridge';

/** How somebody enters things: with a pointer, or without. */
interface Hands {
  enter: (label: string, text: string) => Promise<unknown>;
  choose: (label: string, option: string) => Promise<unknown>;
  press: (name: string) => Promise<unknown>;
}

const withPointer = (visitor: Visitor): Hands => ({
  enter: (label, text) => visitor.fill(label, text),
  choose: async (label, option) => {
    visitor.clicks += 1;
    await visitor.page.getByLabel(label).selectOption({ label: option });
  },
  press: async (name) => {
    const isLink = await visitor.page.getByRole('link', { name, exact: true }).isVisible();
    await visitor.click(isLink ? 'link' : 'button', name);
  },
});

const withKeyboard = (visitor: Visitor): Hands => ({
  enter: (label, text) => visitor.types(label, text),
  choose: (label, option) => visitor.chooses(label, option),
  press: async (name) => {
    await visitor.tabTo(name);
    await visitor.press('Enter');
  },
});

describeInBrowser('The console leads from nothing to the first access', () => {
  const drawbridge = Drawbridge.shared();
  const site = TestConsole.of(drawbridge);

  it.each([
    ['in few clicks', withPointer, 0],
    ['by keyboard alone', withKeyboard, 3],
  ])('%s', async (_, handsOf, index) => {
    const { cloud } = drawbridge;
    const visitor = await site.stranger('/register');
    const hands = handsOf(visitor);
    await hands.enter('Organization', 'First steps');
    await hands.enter('Your name', 'Ada');
    await hands.enter('E-mail', email());
    await hands.enter('Password', PASSWORD);
    await hands.press('Register');
    await visitor.reaches('Set up access');
    await visitor.settled();
    const registered = visitor.clicks;

    const { client } = await founder(drawbridge);
    const types = await client.read<Schemas['ProviderTypesDto'][]>('/resources/types');
    const aws = types.find(({ provider }) => provider === 'AWS')!;
    const key = aws.credentialTypes.find(({ credentialType }) => credentialType === 'ACCESS_KEY')!;
    const securityGroup = aws.resourceTypes.find(({ resourceType }) => resourceType === 'SECURITY_GROUP')!;
    const labelOf = (fields: readonly { name: string; label: string }[], name: string): string =>
      fields.find((field) => field.name === name)!.label;

    await hands.choose('Where are your rules?', aws.label);
    await hands.choose('Kind of credential', key.label);
    await hands.enter(labelOf(key.fields, 'accessKeyId'), SIMULATED_KEY.accessKeyId);
    await hands.enter(labelOf(key.fields, 'secretAccessKey'), SIMULATED_KEY.secretAccessKey);
    await hands.press('Save and verify');
    await visitor.shows('New resource');
    await visitor.settled();

    await hands.enter(securityGroup.label, group(index));
    await hands.enter('Region', 'eu-central-1');
    await hands.enter(labelOf(securityGroup.config, 'port'), '22');
    await hands.enter('Name', 'database');
    await hands.press('Save and verify');
    await visitor.page.getByText('I have this role, too').waitFor();
    await visitor.settled();

    await hands.press('Save');
    await visitor.shows('Everything is ready');
    await hands.press('Let me in');
    await visitor.reaches('Access');
    await visitor.reaches(/^Open until/, 2);
    const opened = await cloud.rules(group(index));
    expect(opened).toMatchObject([{ fromPort: 22, toPort: 22, ours: true }]);
    expect(visitor.clicks - registered).toBeLessThanOrEqual(handsOf === withPointer ? 8 : 0);
    expect(visitor.complaints).toEqual([]);
  });
});
