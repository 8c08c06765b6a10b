import { bodyOf, everyPage, isId, resourceIds, resources, type Api, type Schemas } from '#client';
import { CommandFailure, EXIT, type ExitCode } from '../exit-codes';
import { table, type Output } from '../output';
import { connect, type ConnectionOptions } from '../profiles/connection';

const yes = (value: boolean): string => (value ? 'yes' : 'no');

export async function listResources(
  options: ConnectionOptions & { readonly assigned?: boolean },
  output: Output,
): Promise<ExitCode> {
  const found = await resources(connect(options, output).api, options.assigned);
  const rows = found.map((one) => [
    one.id,
    one.name,
    one.provider,
    one.resourceType,
    one.resourceIdentifier,
    yes(one.isActive),
  ]);
  const text = table(['id', 'name', 'provider', 'type', 'identifier', 'active'], rows);
  output.result({ resources: found }, text || 'No resource.');
  return EXIT.ok;
}

export async function showResource(
  name: string,
  options: ConnectionOptions,
  output: Output,
): Promise<ExitCode> {
  const { api } = connect(options, output);
  const [id = ''] = await resourceIds(api, [name]);
  const resource = await bodyOf(api.GET('/api/v1/resources/{id}', { params: { path: { id } } }));
  output.result(resource, fieldsOf(resource));
  return EXIT.ok;
}

export async function listRoles(options: ConnectionOptions, output: Output): Promise<ExitCode> {
  const roles = await rolesOf(connect(options, output).api);
  const rows = roles.map((role) => [role.id, role.name, role.description ?? '']);
  output.result({ roles }, table(['id', 'name', 'description'], rows) || 'No role.');
  return EXIT.ok;
}

export async function showRole(name: string, options: ConnectionOptions, output: Output): Promise<ExitCode> {
  const { api } = connect(options, output);
  const id = isId(name) ? name : (await roleNamed(api, name)).id;
  const role = await bodyOf(api.GET('/api/v1/roles/{id}', { params: { path: { id } } }));
  output.result(role, fieldsOf(role));
  return EXIT.ok;
}

const rolesOf = (api: Api): Promise<Schemas['RoleDto'][]> =>
  everyPage((query) => bodyOf(api.GET('/api/v1/roles', { params: { query } })));

async function roleNamed(api: Api, name: string): Promise<Schemas['RoleDto']> {
  const role = (await rolesOf(api)).find((one) => one.name === name);
  if (role) return role;
  throw new CommandFailure(EXIT.usage, `There is no role "${name}"`, 'drawbridge roles shows all of them');
}

export interface UserOptions extends ConnectionOptions {
  readonly search?: string;
}

export async function listUsers(options: UserOptions, output: Output): Promise<ExitCode> {
  const { api } = connect(options, output);
  const search = options.search === undefined ? {} : { search: options.search };
  const users = await everyPage((page) =>
    bodyOf(api.GET('/api/v1/users', { params: { query: { ...search, ...page } } })),
  );
  const rows = users.map((user) => [
    user.id,
    user.email,
    user.name,
    user.status,
    yes(user.isOrgAdmin),
    user.roleNames.join(', '),
  ]);
  output.result({ users }, table(['id', 'email', 'name', 'status', 'admin', 'roles'], rows) || 'No user.');
  return EXIT.ok;
}

export interface InviteOptions extends ConnectionOptions {
  readonly role: readonly string[];
  readonly name?: string;
  readonly admin?: boolean;
}

export async function inviteUser(email: string, options: InviteOptions, output: Output): Promise<ExitCode> {
  const { api } = connect(options, output);
  const roleIds = await Promise.all(
    options.role.map(async (role) => (isId(role) ? role : (await roleNamed(api, role)).id)),
  );
  const name = options.name === undefined ? {} : { name: options.name };
  const body = { email, roleIds, isOrgAdmin: options.admin ?? false, ...name };
  const user = await bodyOf(api.POST('/api/v1/users', { body }));
  output.result(user, `${user.email} is invited: ${user.invitationUrl ?? ''}`);
  return EXIT.ok;
}

export interface AddRuleOptions extends ConnectionOptions {
  readonly resource: readonly string[];
  readonly label: string;
}

export async function listStaticRules(options: ConnectionOptions, output: Output): Promise<ExitCode> {
  const { api } = connect(options, output);
  const rules = await everyPage((query) => bodyOf(api.GET('/api/v1/static-ip-rules', { params: { query } })));
  const rows = rules.map((rule) => [
    rule.id,
    rule.ipAddress,
    rule.label,
    rule.status,
    rule.resources.map(({ resourceName }) => resourceName).join(', '),
  ]);
  const text = table(['id', 'address', 'label', 'status', 'resources'], rows);
  output.result({ staticIpRules: rules }, text || 'No static IP rule.');
  return EXIT.ok;
}

export async function addStaticRule(
  address: string,
  options: AddRuleOptions,
  output: Output,
): Promise<ExitCode> {
  const { api } = connect(options, output);
  const ids = await resourceIds(api, options.resource);
  const body = { ipAddress: address, label: options.label, resourceIds: ids };
  const rule = await bodyOf(api.POST('/api/v1/static-ip-rules', { body }));
  output.result(rule, `${rule.id}  ${rule.ipAddress}  ${rule.status}`);
  return EXIT.ok;
}

export async function removeStaticRule(
  id: string,
  options: ConnectionOptions,
  output: Output,
): Promise<ExitCode> {
  const { api } = connect(options, output);
  await api.DELETE('/api/v1/static-ip-rules/{id}', { params: { path: { id } } });
  output.result({ id }, `${id} is removed.`);
  return EXIT.ok;
}

/** One line for each field. */
const fieldsOf = (object: object): string =>
  table(
    ['field', 'value'],
    Object.entries(object).map(([field, value]) => [
      field,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  );
