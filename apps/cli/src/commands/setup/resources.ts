import { Option, type Command } from 'commander';
import { type Api, bodyOf, definedFields, everyPage, type Resource, type Schemas } from '#client';
import { EXIT, type ExitCode, usageFailure } from '../../exit-codes';
import type { Output } from '../../output';
import { define, group, portOption, type Call } from '../../program';
import { showsPlan, trialOption, trialQuery, type TrialOptions } from './change-plan';
import { importing } from './import';
import { labelling } from './labelling';
import {
  labelOption,
  labelsOf,
  listOptions,
  listQuery,
  noVerifyOption,
  pairsOf,
  setOption,
  typeOption,
  type ListOptions,
} from './options';
import { idOf, one, removing, resources as resourcesOf, short, showing, yes } from './things';

type ResourceType = Schemas['ResourceTypeDto'];

const trafficOptions = (): Option[] => [
  new Option('--endpoint <host:port>', 'what people connect to, for them to see'),
  portOption(),
  new Option('--all-ports', 'every port').conflicts('port'),
  new Option('--protocol <protocol>', 'default: tcp').choices(['tcp', 'udp', 'icmp', 'all']),
];

const accountOption = (): Option =>
  new Option('--account <account>', 'where the credential is for many: account, subscription or project');

export function registerResources(program: Command): void {
  const resources = group(program, 'resources', 'what access can be given to');
  define(resources, {
    usage: 'list',
    about: 'list them',
    isDefault: true,
    examples: ['resources', 'resources --assigned'],
    options: [
      new Option('--assigned', 'only those of your roles'),
      labelOption('only those with this label'),
      ...listOptions(),
    ],
    run: list,
  });
  define(resources, { ...showing('resource'), examples: ['resources show database'] });
  define(resources, {
    usage: 'create <name>',
    about: 'add one, and let its provider check it',
    examples: [
      'resources create database --credential aws --identifier sg-0123456789abcdef0 --region eu-central-1 --port 5432',
      'resources create host --credential hosts --identifier db-host-1 --port 22 --port 5432',
    ],
    required: [
      new Option('--credential <name|id>', 'who may change its rules'),
      new Option('--identifier <id>', 'the provider’s id of what is guarded'),
    ],
    options: [
      typeOption(),
      new Option('--region <region>', 'for AWS'),
      accountOption(),
      ...trafficOptions(),
      setOption('a further field of its config'),
      labelOption('roles may reach it by its labels'),
      noVerifyOption(),
    ],
    run: create,
  });
  define(resources, importing);
  define(resources, {
    usage: 'update <name|id>',
    about: 'change one; rules that are open follow it',
    examples: ['resources update database --port 5432 --port 6432', 'resources update database --name db'],
    options: [
      new Option('--name <name>', 'what it is called from now on'),
      new Option('--identifier <id>', 'the provider’s id of what is guarded from now on'),
      new Option('--region <region>', 'for AWS'),
      accountOption(),
      ...trafficOptions(),
      labelOption('added to its labels'),
      trialOption(),
    ],
    run: update,
  });
  define(resources, labelling);
  define(resources, {
    usage: 'verify <name|id>',
    about: 'let its provider check it: only then sessions may use it',
    examples: ['resources verify database'],
    run: async ({ api, name, output }) => verify(api, await idOf(api, 'resource', name), output),
  });
  define(program, {
    usage: 'who-may <resource>',
    about: 'list who may open a resource, and by which roles (administrators)',
    examples: ['who-may database', 'who-may database --search ada'],
    options: listOptions(),
    run: whoMay,
  });
  define(resources, {
    ...removing('resource', 'close what is open on one, and forget it'),
    examples: ['resources remove database'],
  });
}

async function list({
  api,
  options,
  output,
}: Call<ListOptions & { assigned?: boolean; label: readonly string[] }>): Promise<void> {
  const columns = {
    name: ({ name }: Resource) => name,
    provider: ({ provider }: Resource) => provider,
    target: ({ resourceIdentifier }: Resource) => resourceIdentifier,
    ports: portsText,
    endpoint: ({ endpoint }: Resource) => endpoint,
    active: ({ isActive }: Resource) => yes(isActive),
    id: short,
  };
  const labels = options.label.length > 0 ? { label: options.label } : {};
  const found = await resourcesOf(api, options.assigned, { ...listQuery(options), ...labels });
  output.list('resources', found, columns, 'No resource.');
}

const portsText = ({ config: { port, ports = [] } }: Resource): string =>
  [...(port === undefined ? [] : [port]), ...ports].join(', ') || 'every';

interface TrafficOptions {
  readonly endpoint?: string;
  readonly port: readonly number[];
  readonly allPorts?: boolean;
  readonly protocol?: 'tcp' | 'udp' | 'icmp' | 'all';
}

interface CreateOptions extends TrafficOptions {
  readonly credential: string;
  readonly identifier: string;
  readonly type?: string;
  readonly region?: string;
  readonly account?: string;
  readonly set: readonly string[];
  readonly label: readonly string[];
  readonly verify: boolean;
}

async function create({ api, name, options, output }: Call<CreateOptions>): Promise<ExitCode> {
  const { identifier: resourceIdentifier, region, endpoint, account } = options;
  await refuseTaken(api, name);
  const { id: credentialId, provider } = await one(api, 'credential', options.credential);
  const known = await bodyOf(api.GET('/api/v1/resources/types', {}));
  const types = known.find((candidate) => candidate.provider === provider)!;
  const type = typeFor(types.resourceTypes, options);
  requireAll(options, type, type.region?.example);
  const { resourceType } = type;
  const place = {
    resourceType,
    resourceIdentifier,
    ...definedFields({ region, account, endpoint }),
    ...(options.label.length > 0 && { labels: labelsOf(options.label) }),
  };
  const body = { name, credentialId, provider, ...place, config: configOf(options, type) };
  const resource = await bodyOf(api.POST('/api/v1/resources', { body }));
  const next = `${name} is stored; next: drawbridge resources verify ${name}`;
  if (options.verify && !types.needsAgent) {
    try {
      return await verify(api, resource.id, output);
    } catch (error) {
      noteWarnings(resource, output);
      output.note(next);
      throw error;
    }
  }
  noteWarnings(resource, output);
  output.result(resource, next);
  return EXIT.ok;
}

interface UpdateOptions extends TrafficOptions, TrialOptions {
  readonly name?: string;
  readonly identifier?: string;
  readonly region?: string;
  readonly account?: string;
  readonly label: readonly string[];
}

async function update({ api, name: given, options, output }: Call<UpdateOptions>): Promise<void> {
  const { name, identifier, region, account, endpoint, port, allPorts, protocol, label } = options;
  const hasPorts = port.length > 0 || allPorts === true;
  const changed = definedFields({ name, resourceIdentifier: identifier, region, account, endpoint });
  if (!hasPorts && label.length === 0 && protocol === undefined && Object.keys(changed).length === 0) {
    const known =
      '--port or --all-ports, --protocol, --name, --identifier, --region, --account, --endpoint or --label';
    throw usageFailure(`Missing: ${known}`);
  }
  const { id, name: before, config, labels } = await one(api, 'resource', given);
  if (name !== undefined && name !== before) await refuseTaken(api, name);
  // the config is replaced as a whole
  const { port: _port, ports: _ports, ...others } = config;
  const body = {
    ...changed,
    ...(label.length > 0 && { labels: { ...givenLabels(labels), ...labelsOf(label) } }),
    ...(hasPorts || protocol ? { config: { ...(hasPorts ? others : config), ...trafficOf(options) } } : {}),
  };
  const params = { path: { id }, ...trialQuery(options) };
  const resource = await bodyOf(api.PATCH('/api/v1/resources/{id}', { params, body }));
  if (showsPlan(resource, output)) return;
  noteWarnings(resource, output);
  const next = resource.isActive ? '' : `; next: drawbridge resources verify ${resource.name}`;
  output.result(resource, `${resource.name} is changed. Ports: ${portsText(resource)}${next}`);
}

type Right = Schemas['PersonRightDto'];

async function whoMay({ api, name, options, output }: Call<ListOptions>): Promise<void> {
  const id = await idOf(api, 'resource', name);
  const people = await everyPage((page) => {
    const query = { ...page, ...listQuery(options) };
    const params = { path: { id }, query: query as object };
    // without a format, it is no text
    return bodyOf(api.GET('/api/v1/resources/{id}/people', { params })) as Promise<Right[]>;
  });
  const columns = {
    who: ({ email, name: own }: Right) => `${own} <${email}>`,
    status: ({ status }: Right) => status,
    roles: ({ roles }: Right) =>
      roles.map((role) => role.name + (role.by === 'LABEL' ? ' (label)' : '')).join(', '),
    hours: ({ maxSessionDurationHours }: Right) => String(maxSessionDurationHours),
    approvals: ({ approvalsNeeded }: Right) => String(approvalsNeeded),
    'open now': ({ openNow }: Right) => yes(openNow),
  };
  const empty = `No user may open ${name}: no role that reaches it has members.`;
  output.list('people', people, columns, empty);
}

/** Without those that every resource has. */
const givenLabels = (labels: Resource['labels']): Resource['labels'] =>
  Object.fromEntries(Object.entries(labels).filter(([key]) => !key.startsWith('drawbridge/')));

/** Two of one name could be meant by their ids alone. @throws CommandFailure */
async function refuseTaken(api: Api, name: string): Promise<void> {
  const composed = name.normalize('NFC');
  if ((await resourcesOf(api)).every((other) => other.name !== composed)) return;
  const fix = `change it with: drawbridge resources update ${name}, or choose another name`;
  throw usageFailure(`There is a resource "${name}" already`, fix);
}

/** What may not be intended. */
function noteWarnings(
  { name, warnings }: { readonly name: string; readonly warnings: readonly string[] },
  output: Output,
): void {
  for (const warning of warnings) output.note(`${name}: ${warning}`);
}

/** The named type, or the only one whose identifiers look like this. @throws CommandFailure */
function typeFor(types: readonly ResourceType[], { type, identifier }: CreateOptions): ResourceType {
  const candidates =
    type === undefined
      ? types.filter(({ identifier: { pattern, flags } }) => new RegExp(pattern, flags).test(identifier))
      : types.filter(({ resourceType }) => resourceType === type.toUpperCase());
  if (candidates.length === 1) return candidates[0]!;
  const known = types.map(
    ({ resourceType, identifier: form }) => `--type ${resourceType} --identifier ${form.example}`,
  );
  const what = type === undefined && candidates.length > 1 ? 'Missing: --type' : 'No type fits --identifier';
  throw usageFailure(
    type === undefined ? what : `There is no --type ${type}`,
    `as in ${known.join(', or ')}`,
  );
}

function requireAll(
  { port, allPorts, region }: CreateOptions,
  { portsPerRule }: ResourceType,
  regionExample: string | undefined,
): void {
  const missing = [
    ...(regionExample !== undefined && region === undefined ? [`--region, such as ${regionExample}`] : []),
    ...(portsPerRule !== 'none' && port.length === 0 && !allPorts ? ['--port N, or --all-ports'] : []),
  ];
  if (missing.length > 0) throw usageFailure(`Missing: ${missing.join('; ')}`);
}

const trafficOf = ({ port, protocol }: TrafficOptions): Resource['config'] => ({
  ...(port.length === 1 ? { port: port[0]! } : port.length > 1 ? { ports: [...port] } : {}),
  ...(protocol === undefined ? {} : { protocol }),
});

function configOf({ set, ...traffic }: CreateOptions, { config }: ResourceType): object {
  const further = new Map<string, unknown>();
  for (const [name, text] of pairsOf(set, '--set')) {
    const { type = 'text' } = config.find((field) => field.name === name) ?? {};
    const value = type.startsWith('integer') ? integerIn(name, text) : text;
    further.set(name, type.endsWith('s') ? [...((further.get(name) as unknown[]) ?? []), value] : value);
  }
  return { ...trafficOf(traffic), ...Object.fromEntries(further) };
}

/** JSON has no NaN: sent as null, it would mean the default. @throws CommandFailure */
function integerIn(name: string, text: string): number | null {
  if (text === 'null') return null;
  if (/^-?\d+$/.test(text)) return Number(text);
  throw usageFailure(`--set: ${name} takes a whole number, not "${text}"`);
}

async function verify(api: Api, id: string, output: Output): Promise<ExitCode> {
  const resource = await bodyOf(api.POST('/api/v1/resources/{id}/verify', { params: { path: { id } } }));
  const { name, isActive } = resource;
  noteWarnings(resource, output);
  output.result(resource, isActive ? `${name} is active: sessions may use it.` : `${name} is NOT active.`);
  return isActive ? EXIT.ok : EXIT.failed;
}
