import { Option, type Command } from 'commander';
import { type Api, bodyOf, definedFields } from '#client';
import { EXIT, type ExitCode, usageFailure } from '../../exit-codes';
import type { Output } from '../../output';
import { define, group, type Call } from '../../program';
import { pasted } from '../../terminal/pasted';
import { timeText } from '../../terminal/times';
import { readData, typeFor, type DataOptions } from './credential-data';
import { noVerifyOption, setOption, typeOption } from './options';
import { idOf, listing, one, removing, short } from './things';

const dataOptions = (): Option[] => [
  new Option('--data <file>', 'JSON with its fields, or a key file of the provider; -: standard input'),
  new Option('--from-env', 'fields from variables: AWS_SECRET_ACCESS_KEY, AZURE_CLIENT_SECRET …'),
  setOption('a field that is no secret'),
];

export function registerCredentials(program: Command): void {
  const credentials = group(program, 'credentials', 'credentials of cloud providers (administrators)');
  define(credentials, {
    ...listing('credential', {
      name: 'credentials',
      columns: {
        name: ({ name }) => name,
        provider: ({ provider }) => provider,
        type: ({ credentialType }) => credentialType,
        accepted: ({ isValid }) => (isValid === null ? 'not checked' : isValid ? 'yes' : 'NO'),
        checked: ({ lastVerifiedAt }) => timeText(lastVerifiedAt),
        id: short,
      },
    }),
    examples: ['credentials'],
  });
  define(credentials, {
    usage: 'show <name|id>',
    about: 'show one, or the commands that make the cloud trust it',
    examples: ['credentials show aws'],
    run: show,
  });
  define(credentials, {
    usage: 'setup <name|id>',
    about: 'show what to paste into the cloud, for the types of resources that it is to open',
    examples: [
      'credentials setup aws --for SECURITY_GROUP',
      'credentials setup azure --for SQL_SERVER --for KEY_VAULT',
      'credentials setup aws --for SECURITY_GROUP --scope ou-abcd-12345678',
    ],
    required: [new Option('--for <types...>', 'types of resources')],
    options: [
      new Option(
        '--scope <id>',
        'for all accounts of an organizational unit, a management group or a folder',
      ),
    ],
    run: setUp,
  });
  define(credentials, {
    usage: 'create <name>',
    about: 'store one, and let its provider check it; what is missing is asked for',
    examples: [
      'credentials create aws --provider AWS',
      'credentials create aws --provider AWS --from-env',
      'credentials create gcp --provider GCP --type SERVICE_ACCOUNT --data key.json',
      'credentials create aws --provider AWS --type WEB_IDENTITY --set roleArn=arn:aws:iam::123456789012:role/drawbridge',
    ],
    required: [new Option('--provider <provider>', 'AWS, GCP, AZURE, APISIX, VERCEL, ATLAS or AGENT')],
    options: [typeOption(), ...dataOptions(), noVerifyOption()],
    run: create,
  });
  define(credentials, {
    usage: 'verify <name|id>',
    about: 'let its provider check it',
    examples: ['credentials verify aws'],
    run: async ({ api, name, output }) => verify(api, await idOf(api, 'credential', name), output),
  });
  define(credentials, {
    usage: 'rotate <name|id>',
    about: 'put new secrets in place of the old ones, and let the provider check them',
    examples: ['credentials rotate aws --from-env', 'credentials rotate gcp --data key.json'],
    options: dataOptions(),
    run: rotate,
  });
  define(credentials, {
    ...removing('credential', 'forget one, with its secrets'),
    examples: ['credentials remove aws'],
  });
}

/** With the commands to paste in the cloud, where it has to be set up to trust this server. */
async function show({ api, name, output }: Call): Promise<void> {
  const credential = await one(api, 'credential', name);
  const { identity } = credential;
  if (!identity) return output.fields(credential);
  if (output.format === 'text') output.note(`paste these commands in the account of ${name}`);
  return output.result(credential, identity.setup);
}

interface SetUpOptions {
  readonly for: string[];
  readonly scope?: string;
}

async function setUp({ api, name, options, output }: Call<SetUpOptions>): Promise<void> {
  const id = await idOf(api, 'credential', name);
  const resourceType = options.for.map((type) => type.toUpperCase());
  const { scope } = options;
  const params = { path: { id }, query: { resourceType, ...definedFields({ scope }) } };
  const setup = await bodyOf(api.GET('/api/v1/credentials/{id}/setup', { params }));
  return output.result(setup, setup.setup ?? setup.policy);
}

interface CreateOptions extends DataOptions {
  readonly provider: string;
  readonly verify: boolean;
}

async function create({ api, name, options, output }: Call<CreateOptions>): Promise<number> {
  const provider = options.provider.toUpperCase();
  const known = await bodyOf(api.GET('/api/v1/resources/types', {}));
  const types = known.find((candidate) => candidate.provider === provider);
  if (!types) throw usageFailure(`--provider: there is no "${options.provider}"`);
  const type = await typeFor(types, options);
  const credentialData = await readData(provider, type, options, {});
  const { credentialType, needsIssuer } = type;
  const body = { name, provider, credentialType, ...(credentialData ? { credentialData } : {}) };
  const credential = await bodyOf(api.POST('/api/v1/credentials', { body }));
  if (!needsIssuer && !types.needsAgent && options.verify) return verify(api, credential.id, output);
  const next = needsIssuer ? `; next: drawbridge credentials show ${pasted(name)}` : '.';
  output.result(credential, `${name} is stored${next}`);
  return EXIT.ok;
}

/** What is no secret stays as it is, unless it is given. */
async function rotate({ api, name, options, output }: Call<DataOptions>): Promise<ExitCode> {
  const { id, provider, credentialType, hints } = await one(api, 'credential', name);
  const type = (await bodyOf(api.GET('/api/v1/resources/types', {})))
    .flatMap(({ credentialTypes }) => credentialTypes)
    .find((candidate) => candidate.credentialType === credentialType)!;
  const credentialData = await readData(provider, type, options, hints);
  if (!credentialData) throw usageFailure(`${name} has no secret that could be rotated`);
  await api.PATCH('/api/v1/credentials/{id}', { params: { path: { id } }, body: { credentialData } });
  return verify(api, id, output);
}

async function verify(api: Api, id: string, output: Output): Promise<ExitCode> {
  const credential = await bodyOf(api.POST('/api/v1/credentials/{id}/verify', { params: { path: { id } } }));
  const { name, provider, isValid, verificationError } = credential;
  if (isValid === null && verificationError === null) {
    output.result(credential, `${name} is checked in each account that a resource names.`);
    return EXIT.ok;
  }
  output.result(credential, `${name} is ${isValid ? '' : 'NOT '}accepted by ${provider}.`);
  if (!isValid) output.note(verificationError ?? 'it has not been checked yet');
  return isValid ? EXIT.ok : EXIT.failed;
}
