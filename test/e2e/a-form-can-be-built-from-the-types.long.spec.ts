import type { Schemas } from '#client';
import { PROVIDERS } from '#rules';
import { ownOrganization } from '../builders/accounts/organization';
import type { Answer } from '../harness/product/api-client';
import { Drawbridge } from '../harness/product/drawbridge';

type Form = Schemas['TextFormDto'];

interface Labelled {
  readonly label: string;
}

type CredentialType = Schemas['CredentialTypeDto'];
type ConfigField = Schemas['ConfigFieldDto'];

type ResourceType = Schemas['ResourceTypeDto'];
type ProviderTypes = Schemas['ProviderTypesDto'];

type Created = Pick<Schemas['ResourceDto'], 'id'>;
type Refused = Schemas['ErrorDto'];

const ANY_TEXT = 'any text';

/** What a form fills in: the examples, of all fields or of the required ones only. */
const filledIn = ({ fields }: CredentialType, all: boolean): Record<string, string> =>
  Object.fromEntries(
    fields
      .filter(({ required }) => all || required)
      .map(({ name, form }) => [name, form?.example ?? ANY_TEXT]),
  );

/** The example twice, which no form may take: else the test would show nothing. */
function violating({ pattern, flags, example }: Form): string {
  const text = `${example} ${example}`;
  if (new RegExp(pattern, flags).test(text)) throw new Error(`${pattern} takes ${text}`);
  return text;
}

/** Values just outside of what a field says that it is held to; each field says something. */
function beyond({ name, type, example, ...limits }: ConfigField): unknown[] {
  const items = [
    ...(limits.minimum === undefined ? [] : [limits.minimum - 1]),
    ...(limits.maximum === undefined ? [] : [limits.maximum + 1]),
    ...(limits.choices || limits.pattern !== undefined ? ['nothing of the kind'] : []),
  ];
  if (items.length === 0) throw new Error(`${name} is held to nothing`);
  if (!type.endsWith('s')) return items;
  const [item] = example as unknown[];
  return [...items.map((one) => [one]), Array(limits.mostItems! + 1).fill(item)];
}

describe('A form can be built from the types', () => {
  const drawbridge = Drawbridge.shared();
  const org = ownOrganization(drawbridge, []);
  let types: readonly ProviderTypes[];

  beforeAll(async () => {
    types = await org.admin.read<ProviderTypes[]>('/resources/types');
  });

  const typesOf = (provider: string): ProviderTypes => types.find((one) => one.provider === provider)!;

  const fieldsOfOthers = ({ config }: ResourceType): ConfigField[] => {
    const own = new Set(config.map(({ name }) => name));
    const all = types.flatMap((one) => one.resourceTypes.flatMap((type) => type.config));
    return all.filter(({ name }) => !own.has(name));
  };

  const credential = (provider: string, type: CredentialType, data: object): Promise<Answer<Created>> =>
    org.admin.post<Created>('/credentials', {
      name: `${provider} ${type.credentialType}`,
      provider,
      credentialType: type.credentialType,
      ...(type.fields.length > 0 && { credentialData: data }),
    });

  /** A resource as the form makes it, unless something else is given. */
  async function resource<T = Created>(
    { provider, credentialTypes }: ProviderTypes,
    { resourceType, identifier, config, region }: ResourceType,
    changes: object = {},
  ): Promise<Answer<T>> {
    const [type] = credentialTypes;
    const { body } = await credential(provider, type!, filledIn(type!, true));
    const required = config.filter((field) => field.required);
    return org.admin.post<T>('/resources', {
      name: `${provider} ${resourceType}`,
      credentialId: body.id,
      provider,
      resourceType,
      resourceIdentifier: identifier.example,
      ...(region && { region: region.example }),
      config: Object.fromEntries(required.map(({ name, example }) => [name, example])),
      ...changes,
    });
  }

  it('names every provider', () => {
    expect(types.map(({ provider }) => provider)).toEqual([...PROVIDERS]);
  });

  it('has a name for people for each of its choices, no two of which are the same', () => {
    const choices: (readonly Labelled[])[] = [
      types,
      ...types.flatMap(({ credentialTypes, resourceTypes }) => [
        credentialTypes,
        resourceTypes,
        ...credentialTypes.map(({ fields }) => fields),
        ...resourceTypes.map(({ config }) => config),
      ]),
    ];
    for (const named of choices) {
      const labels = new Set(named.map(({ label }) => label.trim()).filter(Boolean));
      expect(labels.size).toBe(named.length);
    }
  });

  it('is readable for every member and every key with resources:read only', async () => {
    const reader = await org.apiKey(['resources:read']);
    expect(await reader.get('/resources/types')).toMatchObject({ status: 200, body: types });
    const other = await org.apiKey(['sessions:write']);
    expect((await other.get('/resources/types')).status).toBe(403);
    expect((await drawbridge.api.get('/resources/types')).status).toBe(401);
  });

  describe.each(PROVIDERS)('for %s', (provider) => {
    it('credentials that follow it are accepted', async () => {
      for (const type of typesOf(provider).credentialTypes) {
        for (const all of [false, true]) {
          expect((await credential(provider, type, filledIn(type, all))).status).toBe(201);
        }
      }
    });

    it('a missing or malformed required field is refused, naming it', async () => {
      for (const type of typesOf(provider).credentialTypes) {
        for (const { name, required, form } of type.fields) {
          const { [name]: _, ...rest } = filledIn(type, true);
          const without = await credential(provider, type, rest);
          expect(without.status).toBe(required ? 400 : 201);
          if (!form) continue;
          const { status, body } = await credential(provider, type, { ...rest, [name]: violating(form) });
          const message = `credentialData.${name} ${form.words}`;
          expect({ status, body }).toMatchObject({ status: 400, body: { message } });
        }
      }
    });

    it('resources that follow it are accepted, with each config field', async () => {
      const all = typesOf(provider);
      for (const type of all.resourceTypes) {
        expect((await resource(all, type)).status).toBe(201);
        for (const { name, example } of type.config) {
          const { status, body } = await resource(all, type, { config: { [name]: example } });
          expect({ status, body }).toMatchObject({ status: 201, body: { config: { [name]: example } } });
        }
      }
    });

    it('an undeclared identifier, region or config field is refused, naming it', async () => {
      const all = typesOf(provider);
      const refusal = async (type: ResourceType, changes: object): Promise<string> => {
        const { status, body } = await resource<Refused>(all, type, changes);
        expect(status).toBe(400);
        return body.message;
      };
      for (const type of all.resourceTypes) {
        const { identifier } = type;
        const malformed = await refusal(type, { resourceIdentifier: violating(identifier) });
        expect(malformed).toBe(`resourceIdentifier ${identifier.words}`);
        for (const { name, example } of fieldsOfOthers(type)) {
          const message = await refusal(type, { config: { [name]: example } });
          expect(message).toContain(`config.${name} does not apply`);
        }
        for (const field of type.config) {
          for (const value of beyond(field)) {
            const message = await refusal(type, { config: { [field.name]: value } });
            expect(field.words.map((one) => `config.${field.name} ${one}`)).toContain(message);
          }
        }
        if (!type.region) continue;
        const message = await refusal(type, { region: violating(type.region) });
        expect(message).toMatch(/^region /);
        expect(message).toContain(type.region.words);
      }
    });
  });
});
