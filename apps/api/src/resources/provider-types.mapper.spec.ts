import { PROVIDERS } from '#rules';
import { toProviderTypes } from './provider-types.mapper';

/** Serialized to JSON and parsed, as a client receives it. */
const typesOf = (provider: (typeof PROVIDERS)[number]): ReturnType<typeof toProviderTypes> =>
  JSON.parse(JSON.stringify(toProviderTypes(provider, null))) as ReturnType<typeof toProviderTypes>;

describe.each(PROVIDERS)('provider types of %s', (provider) => {
  const types = typesOf(provider);

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
});
