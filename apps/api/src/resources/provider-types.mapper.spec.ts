import { DriverRegistry } from '#drivers';
import { PROVIDERS } from '#rules';
import type { TextFormDto } from './dto/provider-types.dto';
import { toProviderTypes } from './provider-types.mapper';

const served = PROVIDERS.filter((provider) => DriverRegistry.facts(provider));

/** Read as a client reads it, from JSON. */
const typesOf = (provider: (typeof PROVIDERS)[number]): ReturnType<typeof toProviderTypes> =>
  JSON.parse(JSON.stringify(toProviderTypes(provider))) as ReturnType<typeof toProviderTypes>;

const fits = ({ pattern, flags, example }: TextFormDto): boolean =>
  example !== undefined && new RegExp(pattern, flags).test(example);

const FITS_TYPE = {
  integer: Number.isInteger,
  integers: (value: unknown) => Array.isArray(value) && value.every(Number.isInteger),
  text: (value: unknown) => typeof value === 'string',
  texts: (value: unknown) => Array.isArray(value) && value.every((item) => typeof item === 'string'),
} as const;

describe.each(served)('the types of %s', (provider) => {
  const types = typesOf(provider);

  it('have, for each text that must have a form, an example that has it', () => {
    const forms = [
      ...types.credentialTypes.flatMap(({ credentialType, fields }) =>
        fields.flatMap(({ name, form }) => (form ? [{ name: `${credentialType}.${name}`, form }] : [])),
      ),
      ...types.resourceTypes.map(({ resourceType, identifier }) => ({
        name: resourceType,
        form: identifier,
      })),
      ...(types.region ? [{ name: 'region', form: types.region }] : []),
    ];
    expect(forms.filter(({ form }) => !fits(form)).map(({ name }) => name)).toEqual([]);
  });

  it('have, for each config field, an example of its type within its limits', () => {
    const fields = types.resourceTypes.flatMap(({ config }) => config);
    const odd = fields.filter(({ type, example, minimum = -Infinity, maximum = Infinity, choices }) => {
      if (!FITS_TYPE[type](example)) return true;
      if (choices && !choices.includes(String(example))) return true;
      return type === 'integer' && (Number(example) < minimum || Number(example) > maximum);
    });
    expect(odd.map(({ name }) => name)).toEqual([]);
    expect(fields.filter(({ words }) => words.length === 0).map(({ name }) => name)).toEqual([]);
  });

  it('tell what the credential must be allowed, and how fast rules are written', () => {
    expect(types.policy?.trim()).toBeTruthy();
    expect(types.limits!.rulesInOneBatch).toBeGreaterThan(0);
    expect(types.limits!.writesInABurst).toBeGreaterThan(0);
  });
});

describe('the types of all providers', () => {
  it('say which fields are secret, fixed and optional', () => {
    const [key] = typesOf('AWS').credentialTypes;
    expect(key).toEqual({
      credentialType: 'ACCESS_KEY',
      fields: [
        expect.objectContaining({ name: 'accessKeyId', required: true, secret: false, fixed: false }),
        { name: 'secretAccessKey', required: true, secret: true, fixed: false },
        { name: 'sessionToken', required: false, secret: true, fixed: false },
      ],
    });
    const fixed = typesOf('GCP').credentialTypes.flatMap(({ fields }) =>
      fields.filter((field) => field.fixed),
    );
    expect(fixed.map(({ name }) => name)).toEqual(['project_id']);
  });

  it('read the limits of config fields from what checks them', () => {
    const config = typesOf('AZURE').resourceTypes.flatMap((type) => type.config);
    expect(config).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ name: 'priorityFrom', minimum: 100, maximum: 4096, required: false }),
        expect.objectContaining({ name: 'protocol', choices: ['tcp', 'udp', 'icmp', 'all'] }),
        expect.objectContaining({ name: 'port', words: ['must be a port from 1 to 65535'] }),
      ]),
    );
  });
});
