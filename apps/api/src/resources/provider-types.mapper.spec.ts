import { PROVIDERS } from '#rules';
import type { TextFormDto } from './dto/provider-types.dto';
import { toProviderTypes } from './provider-types.mapper';

/** Serialized to JSON and parsed, as a client receives it. */
const typesOf = (provider: (typeof PROVIDERS)[number]): ReturnType<typeof toProviderTypes> =>
  JSON.parse(JSON.stringify(toProviderTypes(provider, null))) as ReturnType<typeof toProviderTypes>;

const fits = ({ pattern, flags, example }: TextFormDto): boolean => new RegExp(pattern, flags).test(example);

describe.each(PROVIDERS)('provider types of %s', (provider) => {
  const types = typesOf(provider);

  it('have an example that matches the pattern of each text form', () => {
    const forms = [
      ...types.credentialTypes.flatMap(({ fields }) => fields.map(({ form }) => form)),
      ...types.resourceTypes.flatMap(({ identifier, region }) => [identifier, region]),
    ];
    expect(forms.filter((form) => form && !fits(form))).toEqual([]);
  });

  it('describe each credential field', () => {
    const fields = types.credentialTypes.flatMap((type) => type.fields);
    expect(fields.filter(({ description }) => !description).map(({ name }) => name)).toEqual([]);
  });

  it('include the least-privilege policy, the write limits and the effect of a revocation on connections', () => {
    for (const { policy, revocation, limits, families, closesWithinSeconds } of types.resourceTypes) {
      expect(policy).toMatch(/\S\n$/);
      expect(revocation.words).toMatch(/\.$/);
      const { rulesInOneBatch = 0, writesInABurst = 0 } = limits ?? {};
      expect([rulesInOneBatch > 0, writesInABurst > 0]).toEqual([!types.needsAgent, !types.needsAgent]);
      expect(families).not.toEqual([]);
      expect(closesWithinSeconds).toBeGreaterThan(0);
    }
    const { policy, revocation, limits, region } = types.resourceTypes[0]!;
    expect(types).toMatchObject({ policy, revocation, ...(limits && { limits }), ...(region && { region }) });
  });
});

describe('provider types', () => {
  it('need an agent for AGENT only', () => {
    expect(PROVIDERS.filter((provider) => typesOf(provider).needsAgent)).toEqual(['AGENT']);
  });

  it('mark credential fields as required, secret and fixed', () => {
    const [key] = typesOf('AWS').credentialTypes;
    expect(key).toEqual({
      credentialType: 'ACCESS_KEY',
      label: 'Access key',
      needsIssuer: false,
      fields: [
        expect.objectContaining({ name: 'accessKeyId', required: true, secret: false, fixed: false }),
        expect.objectContaining({ name: 'secretAccessKey', required: true, secret: true, fixed: false }),
        expect.objectContaining({ name: 'sessionToken', required: false, secret: true, fixed: false }),
      ],
    });
    const fixed = typesOf('GCP').credentialTypes.flatMap(({ fields }) =>
      fields.filter((field) => field.fixed),
    );
    expect(new Set(fixed.map(({ name }) => name))).toEqual(new Set(['project_id']));
  });

  it('take the limits of config fields from their validators', () => {
    const config = (['AZURE', 'VERCEL'] as const).flatMap((provider) =>
      typesOf(provider).resourceTypes.flatMap((type) => type.config),
    );
    expect(config).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ name: 'priorityFrom', minimum: 100, maximum: 4096, required: false }),
        expect.objectContaining({ name: 'protocol', choices: ['tcp', 'udp', 'icmp', 'all'] }),
        expect.objectContaining({ name: 'port', words: ['must be a port from 1 to 65535'] }),
        expect.objectContaining({ name: 'ports', minimum: 1, maximum: 65535, mostItems: 20 }),
        expect.objectContaining({
          name: 'pathPrefix',
          pattern: String.raw`^\/[\w.~!$&'()*+,;=:@%/-]{0,255}$`,
        }),
      ]),
    );
  });
});
