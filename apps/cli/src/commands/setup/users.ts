import { Option, type Command } from 'commander';
import { ApiFailure, bodyOf, definedFields, type Schemas } from '#client';
import { stepUp } from '../../access/approval';
import { EXIT, type ExitCode } from '../../exit-codes';
import { define, group, type Call } from '../../program';
import { pasted } from '../../terminal/pasted';
import { timeText } from '../../terminal/times';
import { showsPlan, trialQuery, type TrialOptions } from './change-plan';
import { roleOption } from './options';
import { inBatches, showResults } from './results';
import { idOf, idsOf, listing, removing, short, yes } from './things';

export function registerUsers(program: Command): void {
  const users = group(program, 'users', 'people and programs (administrators)');
  define(users, {
    ...listing('user', {
      name: 'users',
      columns: {
        user: ({ email, name, isService }) => (isService ? `${name} (service)` : email),
        status: ({ status }) => status,
        admin: ({ isOrgAdmin }) => yes(isOrgAdmin),
        roles: ({ roleNames }) => roleNames.join(', '),
        'last sign-in': ({ lastLoginAt, isService }) => (isService ? '' : timeText(lastLoginAt)),
        id: short,
      },
    }),
    examples: ['users', 'users --search ada'],
  });
  define(users, {
    usage: 'invite <email...>',
    about: 'invite people by mail where the server sends it, and print their links; again: a new link',
    examples: [
      'users invite ada@example.com --role developers',
      'users invite --role developers ada@example.com grace@example.com',
    ],
    options: [
      roleOption(),
      new Option('--name <name>', 'default: from the e-mail address'),
      new Option('--admin', 'as an administrator'),
    ],
    run: invite,
  });
  define(users, {
    usage: 'password-link <name|id>',
    about: 'print a link with which a user sets a new password, where no mail is sent or it does not arrive',
    examples: ['users password-link ada@example.com'],
    run: passwordLink,
  });
  define(users, {
    usage: 'create-service <name>',
    about: 'make a user for programs, which API keys act for',
    examples: ['users create-service pipeline --role developers'],
    options: [roleOption()],
    run: createService,
  });
  const removingOne = removing('user', 'end the access and sign-ins of some, who then have no account');
  define(users, {
    ...removingOne,
    usage: 'remove <name|id...>',
    examples: ['users remove ada@example.com', 'users remove --dry-run ada@example.com grace@example.com'],
    run: (call: Call<TrialOptions>) => (call.given.length > 1 ? removeSeveral(call) : removingOne.run(call)),
  });
}

interface InviteOptions {
  readonly role: readonly string[];
  readonly name?: string;
  readonly admin?: boolean;
}

async function invite(call: Call<InviteOptions>): Promise<number> {
  const { api, options, output } = call;
  const emails = [
    ...new Set(call.given.flatMap((text) => text.split(/[\s,;]+/)).filter((one) => one !== '')),
  ];
  const roleIds = await idsOf(api, 'role', options.role);
  if (emails.length === 1) {
    const { user, line } = await inviteOne(call, emails[0]!, roleIds);
    output.result(user, line);
    return EXIT.ok;
  }
  const invited: Invited[] = [];
  for (const email of emails) {
    try {
      invited.push(await inviteOne(call, email, roleIds));
    } catch (error) {
      // what is about this address alone
      if (!(error instanceof ApiFailure) || error.status !== 400) throw error;
      output.note(`${email} is not invited: ${error.message}`);
    }
  }
  output.result({ users: invited.map(({ user }) => user) }, invited.map(({ line }) => line).join('\n'));
  return invited.length === emails.length ? EXIT.ok : EXIT.usage;
}

interface Invited {
  readonly user: Schemas['CreatedUserDto'];
  readonly line: string;
}

async function inviteOne(
  { api, options, output }: Call<InviteOptions>,
  email: string,
  roleIds: string[],
): Promise<Invited> {
  const { name, admin = false } = options;
  const query = { search: email, status: ['INVITED' as const], size: 100 };
  const waiting = await bodyOf(api.GET('/api/v1/users', { params: { query } }));
  const again = waiting.find((user) => user.email === email.toLowerCase());
  if (again && (name !== undefined || admin))
    output.note(`${again.email} was invited before: --name and --admin change nothing`);
  for (const id of again ? roleIds : [])
    await api.POST('/api/v1/roles/{id}/members', {
      params: { path: { id } },
      body: { addUserIds: [again!.id] },
    });
  const body = { email, roleIds, isOrgAdmin: admin, ...definedFields({ name }) };
  const user = again
    ? await bodyOf(api.POST('/api/v1/users/{id}/resend-invitation', { params: { path: { id: again.id } } }))
    : await bodyOf(api.POST('/api/v1/users', { body }));
  for (const warning of user.warnings) output.note(`${user.email}: ${warning}`);
  const line = `${user.email} is invited${again ? ' again' : ''}: ${user.invitationUrl ?? ''}`;
  return { user, line };
}

async function passwordLink({ api, name, output }: Call): Promise<void> {
  const path = { id: await idOf(api, 'user', name) };
  const create = () => bodyOf(api.POST('/api/v1/users/{id}/password-link', { params: { path } }));
  const link = await create().catch(async (error: unknown) => {
    if (!(error instanceof ApiFailure) || error.code !== 'Second factor required') throw error;
    await output.forPerson(stepUp(api));
    return create();
  });
  output.result(link, link.passwordResetUrl);
}

async function createService({ api, name, options, output }: Call<InviteOptions>): Promise<void> {
  const body = { isService: true, name, roleIds: await idsOf(api, 'role', options.role) };
  const user = await bodyOf(api.POST('/api/v1/users', { body }));
  const own = pasted(name);
  const next = `drawbridge keys create ${own} --user ${own}`;
  output.result(user, `${name} is a service user; next: ${next}`);
}

async function removeSeveral({ api, given, options, output }: Call<TrialOptions>): Promise<ExitCode> {
  const ids = await idsOf(api, 'user', given);
  const nameOf = new Map(ids.map((id, index) => [id, given[index]!]));
  const rows: (Schemas['BulkResultDto'] & { name: string })[] = [];
  for (const userIds of inBatches([...nameOf.keys()])) {
    const body = { userIds, action: 'DELETE' as const };
    const answer = await bodyOf(api.POST('/api/v1/users/bulk', { params: trialQuery(options), body }));
    if (showsPlan(answer, output) || !('results' in answer)) continue;
    rows.push(...answer.results.map((result) => ({ ...result, name: nameOf.get(result.id!)! })));
  }
  return options.dryRun ? EXIT.ok : showResults(rows, output);
}
