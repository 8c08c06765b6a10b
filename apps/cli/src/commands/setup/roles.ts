import { Option, type Command } from 'commander';
import { bodyOf, shortId, type Api, type Schemas } from '#client';
import { CommandFailure, EXIT } from '../../exit-codes';
import type { Output } from '../../output';
import { define, group, listOption, numberOption, resourceOption, type Call } from '../../program';
import { all, idsOf, namesById, one, removing, short, showing } from './things';

type Role = Schemas['RoleDto'];

const memberOptions = (): Option[] => [
  resourceOption('a resource', 'none'),
  listOption('--user <e-mail|name|id>', 'a user, or me'),
];

export function registerRoles(program: Command): void {
  const roles = group(program, 'roles', 'who may have access to what (administrators)');
  define(roles, { usage: 'list', about: 'list them', isDefault: true, examples: ['roles'], run: list });
  define(roles, { ...showing('role'), examples: ['roles show developers'] });
  define(roles, {
    usage: 'create <name>',
    about: 'make one, with resources and users',
    examples: ['roles create developers --resource database --user me --user ada@example.com'],
    options: [
      ...memberOptions(),
      new Option('--description <text>', 'what it is for'),
      numberOption('--max-hours <n>', 'the longest session (default: that of the plan)', 24),
    ],
    run: create,
  });
  define(roles, {
    usage: 'assign <role>',
    about: 'give it resources and users',
    examples: ['roles assign developers --user ada@example.com', 'roles assign developers -r database'],
    options: memberOptions(),
    run: (call: Call<Members>) => assign(call, true),
  });
  define(roles, {
    usage: 'unassign <role>',
    about: 'take resources and users from it',
    examples: ['roles unassign developers --user ada@example.com'],
    options: memberOptions(),
    run: (call: Call<Members>) => assign(call, false),
  });
  define(roles, { ...removing('role', 'remove one'), examples: ['roles remove developers'] });
}

async function list({ api, output }: Call): Promise<void> {
  const [roles, resources, users] = await Promise.all([
    all(api, 'role'),
    namesById(api, 'resource'),
    namesById(api, 'user'),
  ]);
  const columns = {
    name: ({ name }: Role) => name,
    resources: ({ resourceIds }: Role) => resources(resourceIds),
    users: ({ userIds }: Role) => users(userIds),
    'max hours': ({ maxSessionDurationHours }: Role) => String(maxSessionDurationHours),
    id: short,
  };
  output.list('roles', roles, columns, { empty: 'No role.' });
}

interface Members {
  readonly resource: readonly string[];
  readonly user: readonly string[];
}

interface CreateOptions extends Members {
  readonly description?: string;
  readonly maxHours?: number;
}

async function create({ api, name, options, output }: Call<CreateOptions>): Promise<void> {
  // before the role is there: a name that is wrong leaves no half of it
  const members = await memberIds(api, options);
  const { description, maxHours } = options;
  const body = {
    name,
    ...(description === undefined ? {} : { description }),
    ...(maxHours === undefined ? {} : { maxSessionDurationHours: maxHours }),
  };
  const role = await bodyOf(api.POST('/api/v1/roles', { body }));
  await change(api, role, members, true);
  await show(api, role.id, output);
}

async function assign({ api, name, options, output }: Call<Members>, isGiven: boolean): Promise<void> {
  if (options.resource.length + options.user.length === 0) {
    throw new CommandFailure(EXIT.usage, 'Missing: --resource or --user', 'both may be repeated');
  }
  const [role, members] = await Promise.all([one(api, 'role', name), memberIds(api, options)]);
  await change(api, role, members, isGiven);
  await show(api, role.id, output);
  if (!isGiven) await noteSessions(api, members, output);
}

/** A session keeps what it has opened: the roles of its user decide when it starts. */
async function noteSessions(api: Api, { userIds, resourceIds }: MemberIds, output: Output): Promise<void> {
  const { organizationSessions, resourcesOf } = await import('../sessions.js');
  const [roles, sessions] = await Promise.all([
    all(api, 'role'),
    organizationSessions(api, { active: true }),
  ]);
  for (const session of sessions) {
    const { id, userId, userEmail, resourceIps } = session;
    const lost = resourceIps.filter(
      ({ resourceId }) =>
        (userIds.includes(userId) || resourceIds.includes(resourceId)) &&
        !roles.some((role) => role.userIds.includes(userId) && role.resourceIds.includes(resourceId)),
    );
    if (lost.length === 0) continue;
    const open = resourcesOf({ ...session, resourceIps: lost });
    output.note(`${userEmail} keeps ${open} open; end that with: drawbridge stop ${shortId(id)}`);
  }
}

interface MemberIds {
  readonly resourceIds: readonly string[];
  readonly userIds: readonly string[];
}

const memberIds = async (api: Api, { resource, user }: Members): Promise<MemberIds> => ({
  resourceIds: await idsOf(api, 'resource', resource),
  userIds: await idsOf(api, 'user', user),
});

/** What is so already is not asked for: it would be refused. */
async function change(api: Api, role: Role, members: MemberIds, isGiven: boolean): Promise<void> {
  const method = isGiven ? 'post' : 'delete';
  const { id } = role;
  for (const resourceId of members.resourceIds) {
    if (role.resourceIds.includes(resourceId) === isGiven) continue;
    const params = { path: { id, resourceId } };
    await api.request(method, '/api/v1/roles/{id}/resources/{resourceId}', { params });
  }
  for (const userId of members.userIds) {
    if (role.userIds.includes(userId) === isGiven) continue;
    await api.request(method, '/api/v1/roles/{id}/users/{userId}', { params: { path: { id, userId } } });
  }
}

async function show(api: Api, id: string, output: Output): Promise<void> {
  const role = await bodyOf(api.GET('/api/v1/roles/{id}', { params: { path: { id } } }));
  const [resources, users] = await Promise.all([namesById(api, 'resource'), namesById(api, 'user')]);
  const text = [
    role.name,
    `  resources  ${resources(role.resourceIds) || 'none'}`,
    `  users      ${users(role.userIds) || 'none'}`,
  ];
  output.result(role, text.join('\n'));
}
