import { Option, type Command } from 'commander';
import { type Api, ApiFailure, bodyOf, definedFields, type Schemas, shortId } from '#client';
import { usageFailure } from '../../exit-codes';
import type { Output } from '../../output';
import { define, group, listOption, numberOption, resourceOption, type Call } from '../../program';
import { isPlan, type Plan, showsPlan, trialOption, trialQuery, type TrialOptions } from './change-plan';
import { listOptions, listQuery, pairsOf, type ListOptions } from './options';
import { all, idsOf, namesById, one, removing, short, showing } from './things';

type Role = Schemas['RoleDto'];

const memberOptions = (): Option[] => [
  resourceOption('a resource', 'none'),
  listOption('--user <e-mail|name|id>', 'a user, or me'),
];

/** By which labels a role reaches resources. */
const selectorOption = (): Option =>
  listOption(
    '--selector <key=value>',
    'a label of resources; several values of a key: as env=prod,staging',
  ).default(undefined);

/** @throws CommandFailure */
function selectorOf({ selector }: { readonly selector?: readonly string[] | false }): object {
  if (selector === undefined) return {};
  if (selector === false) return { resourceSelector: null };
  const pairs = pairsOf(selector, '--selector').map(([key, values]) => [key, values.split(',')]);
  return { resourceSelector: Object.fromEntries(pairs) as Record<string, string[]> };
}

/** What a role asks of those who start sessions. */
const policyOptions = (): Option[] => [
  new Option('--require-reason [pattern]', 'a session needs a reason, and one that looks like INC-*'),
  new Option('--no-require-reason', 'a session needs none'),
  numberOption('--approvals <n>', 'that a session needs before it starts, by administrators', 2, 0),
  listOption('--approver <role>', 'a role whose members approve, not administrators').default(undefined),
  new Option('--no-approver', 'administrators approve').default(undefined),
  new Option('--break-glass', 'a session may do without approval in an emergency').default(undefined),
  new Option('--no-break-glass', 'it may not').default(undefined),
  selectorOption(),
  new Option('--no-selector', 'it reaches only what is assigned to it').default(undefined),
  numberOption('--ipv6-prefix <length>', 'of the range that is opened for an IPv6 address', 128, 64),
];

interface PolicyOptions {
  /** a pattern; true: any reason will do */
  readonly requireReason?: string | boolean;
  readonly approvals?: number;
  /** false: administrators */
  readonly approver?: readonly string[] | false;
  readonly breakGlass?: boolean;
  /** false: none */
  readonly selector?: readonly string[] | false;
  readonly ipv6Prefix?: number;
}

type Policy = Pick<
  Schemas['UpdateRoleDto'],
  | 'requireReason'
  | 'reasonPattern'
  | 'approvals'
  | 'approverRoleIds'
  | 'mayBreakGlass'
  | 'ipv6PrefixLength'
  | 'resourceSelector'
>;

async function policyOf(api: Api, options: PolicyOptions): Promise<Policy> {
  const { requireReason, approvals, approver, breakGlass, ipv6Prefix } = options;
  const pattern = typeof requireReason === 'string' ? requireReason : null;
  return {
    ...(requireReason === undefined
      ? {}
      : { requireReason: requireReason !== false, reasonPattern: pattern }),
    ...(approver === undefined ? {} : { approverRoleIds: await idsOf(api, 'role', approver || []) }),
    ...definedFields({ approvals, mayBreakGlass: breakGlass, ipv6PrefixLength: ipv6Prefix }),
    ...selectorOf(options),
  };
}

export function registerRoles(program: Command): void {
  const roles = group(program, 'roles', 'who may have access to what (administrators)');
  define(roles, {
    usage: 'list',
    about: 'list them',
    isDefault: true,
    examples: ['roles', 'roles --search dev'],
    options: listOptions(),
    run: list,
  });
  define(roles, { ...showing('role'), examples: ['roles show developers'] });
  define(roles, {
    usage: 'create <name>',
    about: 'make one, with resources and users',
    examples: ['roles create developers --resource database --user me --user ada@example.com'],
    options: [
      ...memberOptions(),
      new Option('--description <text>', 'what it is for'),
      numberOption('--max-hours <n>', 'the longest session (default: that of the plan)', 24),
      ...policyOptions(),
    ],
    run: create,
  });
  define(roles, {
    usage: 'change <role>',
    about: 'change what it asks of those who start sessions',
    examples: [
      "roles change developers --require-reason 'INC-*'",
      'roles change production --approvals 1 --approver leads',
      'roles change payments --selector env=prod,staging --selector team=payments',
    ],
    options: [...policyOptions(), trialOption()],
    run: changePolicy,
  });
  define(roles, {
    usage: 'assign <role>',
    about: 'give it resources and users',
    examples: ['roles assign developers --user ada@example.com', 'roles assign developers -r database'],
    options: [...memberOptions(), trialOption()],
    run: (call: Call<AssignOptions>) => assign(call, true),
  });
  define(roles, {
    usage: 'unassign <role>',
    about: 'take resources and users from it',
    examples: [
      'roles unassign developers --user ada@example.com',
      'roles unassign developers -r database --dry-run',
    ],
    options: [...memberOptions(), trialOption()],
    run: (call: Call<AssignOptions>) => assign(call, false),
  });
  define(roles, { ...removing('role', 'remove one'), examples: ['roles remove developers'] });
}

async function list({ api, options, output }: Call<ListOptions>): Promise<void> {
  const [roles, resources, users] = await Promise.all([
    all(api, 'role', listQuery(options)),
    namesById(api, 'resource'),
    namesById(api, 'user'),
  ]);
  const columns = {
    name: ({ name }: Role) => name,
    resources: ({ resourceIds, resourceCount }: Role) =>
      [resources(resourceIds), byLabel(resourceCount - resourceIds.length)].filter(Boolean).join(', '),
    users: ({ userIds }: Role) => users(userIds),
    'max hours': ({ maxSessionDurationHours }: Role) => String(maxSessionDurationHours),
    id: short,
  };
  output.list('roles', roles, columns, 'No role.');
}

const byLabel = (count: number): string => (count > 0 ? `${count} by label` : '');

interface Members {
  readonly resource: readonly string[];
  readonly user: readonly string[];
}

interface AssignOptions extends Members, TrialOptions {}

interface CreateOptions extends Members, PolicyOptions {
  readonly description?: string;
  readonly maxHours?: number;
}

async function create({ api, name, options, output }: Call<CreateOptions>): Promise<void> {
  if (options.approvals === undefined && options.approver)
    throw usageFailure('Missing: --approvals', 'how many of them have to approve: 1 or 2');
  const { description, maxHours } = options;
  const body = {
    name,
    ...definedFields({ description, maxSessionDurationHours: maxHours }),
    ...(await policyOf(api, options)),
    ...(await memberIds(api, options)),
  };
  const { id } = await bodyOf(api.POST('/api/v1/roles', { body }));
  await show(api, id, output);
}

async function changePolicy({
  api,
  name,
  options,
  output,
}: Call<PolicyOptions & TrialOptions>): Promise<void> {
  const [{ id }, body] = await Promise.all([one(api, 'role', name), policyOf(api, options)]);
  const params = { path: { id }, ...trialQuery(options) };
  if (showsPlan(await bodyOf(api.PATCH('/api/v1/roles/{id}', { params, body })), output)) return;
  await show(api, id, output);
}

async function assign({ api, name, options, output }: Call<AssignOptions>, isGiven: boolean): Promise<void> {
  if (options.resource.length + options.user.length === 0) {
    throw usageFailure('Missing: --resource or --user', 'both may be repeated');
  }
  const [{ id }, { userIds, resourceIds }] = await Promise.all([
    one(api, 'role', name),
    memberIds(api, options),
  ]);
  const body = isGiven
    ? { addUserIds: userIds, addResourceIds: resourceIds }
    : { removeUserIds: userIds, removeResourceIds: resourceIds };
  const send = (trial: TrialOptions): Promise<Schemas['BulkResultsDto']> =>
    bodyOf(api.POST('/api/v1/roles/{id}/members', { params: { path: { id }, ...trialQuery(trial) }, body }));
  if (options.dryRun) {
    showsPlan(await send(options), output);
    return;
  }
  const plan = isGiven ? null : await send({ dryRun: true });
  const { results } = await send({});
  const refused = results.find(({ outcome }) => outcome === 'REFUSED');
  if (refused) throw new ApiFailure(refused.status!, refused.message!);
  await show(api, id, output);
  if (isPlan(plan)) await noteSessions(api, plan, output);
}

/** A session keeps what it has opened: the roles of its user decide when it starts. */
async function noteSessions(api: Api, { continuing, rights: { lost } }: Plan, output: Output): Promise<void> {
  if (continuing.sessions === 0) return;
  const { organizationSessions, resourcesOf } = await import('../sessions.js');
  const pairs = new Set(lost.sample.map(({ userId, resourceId }) => `${userId} ${resourceId}`));
  for (const session of await organizationSessions(api, { active: true })) {
    const { id, userId, userEmail } = session;
    const resourceIps = session.resourceIps.filter(({ resourceId }) => pairs.has(`${userId} ${resourceId}`));
    if (resourceIps.length === 0) continue;
    const open = resourcesOf({ ...session, resourceIps });
    output.note(`${userEmail} keeps ${open} open; end that with: drawbridge stop ${shortId(id)}`);
  }
  if (lost.total !== pairs.size)
    output.note(
      `In all, ${continuing.sessions ?? 'an unknown number of'} sessions keep what is no longer allowed.`,
    );
}

const memberIds = async (
  api: Api,
  { resource, user }: Members,
): Promise<{ readonly resourceIds: string[]; readonly userIds: string[] }> => ({
  resourceIds: await idsOf(api, 'resource', resource),
  userIds: await idsOf(api, 'user', user),
});

async function show(api: Api, id: string, output: Output): Promise<void> {
  const role = await bodyOf(api.GET('/api/v1/roles/{id}', { params: { path: { id } } }));
  const [resources, users] = await Promise.all([namesById(api, 'resource'), namesById(api, 'user')]);
  const text = [
    role.name,
    `  resources  ${resources(role.resourceIds) || 'none'}`,
    ...(role.resourceSelector === null ? [] : [`  labels     ${selectorText(role)}`]),
    `  users      ${users(role.userIds) || 'none'}`,
    ...(await policyLines(api, role)),
  ];
  output.result(role, text.join('\n'));
}

const selectorText = ({ resourceSelector, resourceCount }: Role): string =>
  `${Object.entries(resourceSelector ?? {})
    .map(([key, values]) => `${key}=${values.join(',')}`)
    .join(' and ')} (${resourceCount} resources in all)`;

/** What it asks, where it asks for anything. */
async function policyLines(api: Api, role: Role): Promise<string[]> {
  const { requireReason, reasonPattern, approvals, approverRoleIds, mayBreakGlass } = role;
  const reason = `a reason${reasonPattern === null ? '' : ` like ${reasonPattern}`}`;
  const roles = approverRoleIds.length === 0 ? '' : (await namesById(api, 'role'))(approverRoleIds);
  const approval = `${approvals} approval${approvals === 1 ? '' : 's'} by ${roles || 'administrators'}`;
  const asks = [
    ...(requireReason ? [reason] : []),
    ...(approvals === 0 ? [] : [mayBreakGlass ? `${approval}, or --break-glass` : approval]),
  ];
  return asks.length === 0 ? [] : [`  asks for   ${asks.join('; ')}`];
}
