import type { Schemas } from '#client';
import { CommandFailure, usageFailure } from '../../exit-codes';
import { textFrom } from '../../terminal/inputs';
import { ask, canAsk } from '../../terminal/prompts';
import { pairsOf } from './options';

type Types = Schemas['ProviderTypesDto'];
type Type = Schemas['CredentialTypeDto'];
type Field = Type['fields'][number];
type Data = Readonly<Record<string, string>>;

/** Where the fields of a credential come from. No option holds a secret: other users of a machine see arguments. */
export interface DataOptions {
  readonly type?: string;
  /** a file with JSON; `-`: standard input */
  readonly data?: string;
  /** from variables named after provider and field, as the providers' own tools call most of them */
  readonly fromEnv?: boolean;
  /** fields that are no secret, as name=value */
  readonly set: readonly string[];
}

/** `AWS_SECRET_ACCESS_KEY` for `secretAccessKey` of AWS. */
const variableOf = (provider: string, { name }: Field): string =>
  `${provider}_${name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase()}`;

/**
 * The type that is named, or the only one, or the only one that what is given suffices for, or belongs to.
 * @throws CommandFailure
 */
export async function typeFor(types: Types, options: DataOptions): Promise<Type> {
  const { provider, credentialTypes } = types;
  const names = credentialTypes.map(({ credentialType }) => credentialType);
  const named = credentialTypes.find(({ credentialType }) => credentialType === options.type?.toUpperCase());
  if (named) return named;
  if (options.type !== undefined) {
    throw usageFailure(`--type: ${provider} has no "${options.type}"`, names.join(', '));
  }
  if (credentialTypes.length === 1) return credentialTypes[0]!;
  const sufficient = [];
  const begun = [];
  for (const type of credentialTypes) {
    const data = await readGiven(provider, type, options);
    const needed = type.fields.filter(({ required }) => required);
    if (needed.every(({ name }) => name in data)) sufficient.push(type);
    if (needed.some(({ name }) => name in data)) begun.push(type);
  }
  for (const fitting of [sufficient, begun]) if (fitting.length === 1) return fitting[0]!;
  if (canAsk()) {
    return typeFor(types, { ...options, type: await ask(`Type: ${names.join(', ')}`) });
  }
  if (options.fromEnv && begun.length === 0) throw withoutVariables(types);
  throw usageFailure('Missing: --type', `--type ${names.join(', or --type ')}`);
}

function withoutVariables({ provider, credentialTypes }: Types): CommandFailure {
  const sets = credentialTypes.flatMap(({ credentialType, fields }) => {
    const variables = fields.filter(({ required }) => required).map((field) => variableOf(provider, field));
    return variables.length === 0 ? [] : [`${variables.join(', ')} for ${credentialType}`];
  });
  return usageFailure('--from-env: no variable is set', `set ${sets.join('; or ')}`);
}

/**
 * The fields of a credential. What is missing is asked for on a terminal.
 * @param before the fields that stay, unless they are given
 * @returns null: the type has none
 * @throws CommandFailure naming all that is missing, and where it is looked for
 */
export async function readData(
  provider: string,
  type: Type,
  options: DataOptions,
  before: Data,
): Promise<Data | null> {
  if (type.fields.length === 0) return null;
  const given = await readGiven(provider, type, options);
  const data: Record<string, string> = { ...before, ...given };
  // the server reads the files of the providers' own tools
  if (options.data !== undefined) return data;
  const missing = type.fields.filter(({ name, required }) => required && !(name in data));
  if (missing.length > 0 && !canAsk()) {
    const variables = missing.map((field) => variableOf(provider, field)).join(', ');
    throw usageFailure(
      `Missing: ${missing.map(({ name }) => name).join(', ')}`,
      `set ${variables} and add --from-env, or give --data FILE, or --data - for standard input`,
    );
  }
  if (missing.length === 0) return data;
  // a new secret may come with a new id
  const asked = type.fields.filter(
    (field) => field.required && !(field.name in given) && !isFixed(field, before),
  );
  for (const { name, description, secret } of asked) {
    const current = before[name];
    const hint = current === undefined ? description : `Enter keeps ${current}`;
    data[name] = (await ask(`${name} (${hint})`, { secret })) || (current ?? '');
  }
  return data;
}

const isFixed = ({ name, fixed }: Field, before: Data): boolean => fixed && name in before;

const read = { input: null as Promise<Data> | null };

async function readGiven(provider: string, { fields }: Type, options: DataOptions): Promise<Data> {
  const file = options.data === undefined ? {} : await (read.input ??= dataIn(options.data));
  const variables = fields.flatMap((field) => {
    const value = process.env[variableOf(provider, field)];
    return options.fromEnv && value ? [[field.name, value]] : [];
  });
  const set = pairsOf(options.set, '--set');
  for (const [name] of set) {
    if (!fields.find((field) => field.name === name)?.secret) continue;
    throw usageFailure(
      `--set: ${name} is a secret, and other users of this machine see arguments`,
      'use --from-env, --data FILE, or --data - for standard input',
    );
  }
  return { ...file, ...(Object.fromEntries([...variables, ...set]) as Data) };
}

async function dataIn(path: string): Promise<Data> {
  const text = await textFrom(path, '--data');
  try {
    const data = JSON.parse(text) as unknown;
    if (typeof data === 'object' && data !== null && !Array.isArray(data)) return data as Data;
  } catch {
    // reported below, without what it holds
  }
  throw usageFailure(`--data: ${path} must hold one JSON object`);
}
