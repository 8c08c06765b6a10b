import { AWS_FACTS } from './aws.facts';

const SHAPES = [
  ['SECURITY_GROUP', 'sg'],
  ['PREFIX_LIST', 'pl'],
] as const;

const named = (resourceType: string, identifier: string) =>
  AWS_FACTS.resourceTypes[resourceType]!.nameTarget({
    identifier,
    config: {},
    organization: 'any',
    hints: {},
  });

describe.each(SHAPES)('The identifier of a %s', (resourceType, letters) => {
  const { identifier } = AWS_FACTS.resourceTypes[resourceType]!;

  it.each(['0123456789abcdef0', '0123ABCD'])(`accepts ${letters}-%s`, (digits) => {
    expect(`${letters}-${digits}`).toMatch(identifier.pattern);
  });

  it.each([
    `${letters}-`,
    `${letters}-0123`,
    `${letters}-0123456789abcdef01`,
    `${letters}-0123456789abcdefg`,
    ` ${letters}-0123abcd`,
    `${letters}-0123abcd\n`,
    `${letters}-0123abcd/203.0.113.7`,
    'vpc-0123abcd',
    'arn:aws:ec2:eu-central-1:123456789012:prefix-list/pl-0123abcd',
    'com.amazonaws.eu-central-1.s3',
  ])('rejects %p', (text) => {
    expect(text).not.toMatch(identifier.pattern);
  });

  it('is normalized to one target name per object', () => {
    const one = named(resourceType, `${letters}-0123abcd`);
    expect(one.identifier).toBe(`${letters}-0123abcd`);
    expect(named(resourceType, `${letters.toUpperCase()}-0123ABCD`)).toEqual(one);
    expect(named(resourceType, `${letters}-0123abce`).key).not.toBe(one.key);
  });
});
