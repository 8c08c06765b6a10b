import { bodyOf, everyPage, isId, named, shortId, type Api, type Resource, type Schemas } from '#client';
import type { Columns } from '../../output';
import type { Definition } from '../../program';
import { showsPlan, trialOption, trialQuery, type TrialOptions } from './change-plan';
import { listOptions, listQuery, type ListOptions } from './options';

/** What an organization is set up of, and people call by names. */
export interface Things {
  readonly credential: Schemas['CredentialDto'];
  readonly resource: Resource;
  readonly role: Schemas['RoleDto'];
  readonly user: Schemas['UserDto'];
  readonly key: Schemas['ApiKeyDto'];
  readonly rule: Schemas['StaticIpRuleDto'];
  readonly trust: Schemas['OidcTrustDto'];
}
export type Kind = keyof Things;

interface Words<T> {
  readonly path: string;
  readonly one: string;
  readonly several: string;
  /** the one to be shown first */
  readonly namesOf: (thing: T) => readonly string[];
}

const byName = ({ name }: { readonly name: string }): string[] => [name];
/** A service user has an e-mail address that is generated. */
const userNames = ({ email, name, isService }: Things['user']): string[] =>
  isService ? [name, email] : [email];
const keyNames = ({ name, keyPrefix }: Things['key']): string[] => [name, keyPrefix];
const ruleNames = ({ label, ipAddress }: Things['rule']): string[] => [label, ipAddress];

const KINDS: { readonly [K in Kind]: Words<Things[K]> } = {
  credential: { path: 'credentials', one: 'credential', several: 'credentials', namesOf: byName },
  resource: { path: 'resources', one: 'resource', several: 'resources', namesOf: byName },
  role: { path: 'roles', one: 'role', several: 'roles', namesOf: byName },
  user: { path: 'users', one: 'user', several: 'users', namesOf: userNames },
  key: { path: 'api-keys', one: 'API key', several: 'API keys', namesOf: keyNames },
  rule: { path: 'static-ip-rules', one: 'static IP rule', several: 'static IP rules', namesOf: ruleNames },
  trust: { path: 'oidc-trusts', one: 'trust', several: 'trusts', namesOf: byName },
};

/** By name. @param assigned only those of the caller's roles, which its sessions may name */
export const resources = (api: Api, assigned = false, asked: object = {}): Promise<Resource[]> =>
  everyPage((page) => {
    const query = { ...page, ...(assigned ? { assigned } : {}), ...asked };
    return bodyOf(api.GET('/api/v1/resources', { params: { query } }));
  });

/** @param asked as the list's query takes it */
export async function all<K extends Kind>(api: Api, kind: K, asked: object = {}): Promise<Things[K][]> {
  // each path lists what the table above says; one of them stands for the types of all
  const path = `/api/v1/${KINDS[kind].path}` as '/api/v1/roles';
  const things = await everyPage((page) =>
    bodyOf(api.GET(path, { params: { query: { ...page, ...asked } } })),
  );
  return things as unknown as Things[K][];
}

/** The one that a name, an id or the beginning of an id means. @throws UnknownName */
export async function one<K extends Kind>(api: Api, kind: K, given: string): Promise<Things[K]> {
  const known = await all(api, kind);
  return known.find(({ id }) => id === given) ?? named(given, known, KINDS[kind], KINDS[kind].namesOf);
}

/** A user may be given as `me`, which is the caller. @throws UnknownName */
export async function idsOf(api: Api, kind: Kind, given: readonly string[] = []): Promise<string[]> {
  const isMe = (text: string): boolean => kind === 'user' && text === 'me';
  const own = given.some(isMe) ? (await bodyOf(api.GET('/api/v1/auth/me', {}))).id : '';
  const known = given.every((text) => isId(text) || isMe(text)) ? [] : await all(api, kind);
  const words = KINDS[kind] as Words<Things[Kind]>;
  return given.map((text) => {
    if (isMe(text)) return own;
    return isId(text) ? text : named<Things[Kind]>(text, known, words, words.namesOf).id;
  });
}

export const idOf = async (api: Api, kind: Kind, given: string): Promise<string> =>
  (await idsOf(api, kind, [given]))[0]!;

/** The names of things by their ids, for a list that names them by id. */
export async function namesById(api: Api, kind: Kind): Promise<(ids: readonly string[]) => string> {
  const { namesOf } = KINDS[kind] as Words<Things[Kind]>;
  const names = new Map((await all(api, kind)).map((thing) => [thing.id, namesOf(thing)[0]!]));
  return (ids) => ids.map((id) => names.get(id) ?? id).join(', ');
}

/** The command that lists them, which is what their word alone does. */
export const listing = <K extends Kind>(
  kind: K,
  { name, columns }: { readonly name: string; readonly columns: Columns<Things[K]> },
): Omit<Definition<ListOptions>, 'examples'> => ({
  usage: 'list',
  about: 'list them',
  isDefault: true,
  options: listOptions(),
  run: async ({ api, options, output }) => {
    output.list(name, await all(api, kind, listQuery(options)), columns, `No ${KINDS[kind].one}.`);
  },
});

/** The command that shows one of them. */
export const showing = (kind: Kind): Omit<Definition<object>, 'examples'> => ({
  usage: 'show <name|id>',
  about: 'show one',
  run: async ({ api, name, output }) => output.fields(await one(api, kind, name)),
});

/** What has a dry run. */
const TRIABLE: ReadonlySet<Kind> = new Set(['resource', 'role', 'user']);

/** The command that deletes one of them. */
export const removing = (kind: Kind, about: string): Omit<Definition<TrialOptions>, 'examples'> => ({
  usage: 'remove <name|id>',
  about,
  ...(TRIABLE.has(kind) && { options: [trialOption()] }),
  run: async ({ api, name, options, output }) => {
    const id = await idOf(api, kind, name);
    const path = `/api/v1/${KINDS[kind].path}/{id}` as '/api/v1/roles/{id}';
    const answer = await bodyOf(api.DELETE(path, { params: { path: { id }, ...trialQuery(options) } }));
    if (showsPlan(answer, output)) return;
    output.result({ id }, `${name} is removed.`);
  },
});

export const yes = (value: boolean): string => (value ? 'yes' : 'no');
export const short = ({ id }: { readonly id: string }): string => shortId(id);
