import { Option, type Command } from 'commander';
import { bodyOf, type Schemas } from '#client';
import { define, group, type Call } from '../../program';
import { pasted } from '../../terminal/pasted';
import { timeText } from '../../terminal/times';
import { listOptions, listQuery, roleOption, type ListOptions } from './options';
import { all, idOf, idsOf, removing, short, yes } from './things';

type User = Schemas['UserDto'];

export function registerUsers(program: Command): void {
  const users = group(program, 'users', 'people and programs (administrators)');
  define(users, {
    usage: 'list',
    about: 'list them',
    isDefault: true,
    examples: ['users', 'users --search ada'],
    options: listOptions(),
    run: list,
  });
  define(users, {
    usage: 'invite <email>',
    about: 'invite somebody by mail where the server sends it, and print the link; again: a new link',
    examples: ['users invite ada@example.com --role developers'],
    options: [
      roleOption(),
      new Option('--name <name>', 'default: from the e-mail address'),
      new Option('--admin', 'as an administrator'),
    ],
    run: invite,
  });
  define(users, {
    usage: 'password-link <name|id>',
    about: 'print a link with which a user sets a new password, where the server sends no mail',
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
  define(users, {
    ...removing('user', 'end the access and sign-ins of one, who then has no account'),
    examples: ['users remove ada@example.com'],
  });
}

async function list({ api, options, output }: Call<ListOptions>): Promise<void> {
  const users = await all(api, 'user', listQuery(options));
  const columns = {
    user: ({ email, name, isService }: User) => (isService ? `${name} (service)` : email),
    status: ({ status }: User) => status,
    admin: ({ isOrgAdmin }: User) => yes(isOrgAdmin),
    roles: ({ roleNames }: User) => roleNames.join(', '),
    'last sign-in': ({ lastLoginAt, isService }: User) => (isService ? '' : timeText(lastLoginAt)),
    id: short,
  };
  output.list('users', users, columns, { empty: 'No user.' });
}

interface InviteOptions {
  readonly role: readonly string[];
  readonly name?: string;
  readonly admin?: boolean;
}

async function invite({ api, name: email, options, output }: Call<InviteOptions>): Promise<void> {
  const invited = await bodyOf(
    api.GET('/api/v1/users', { params: { query: { search: email, status: ['INVITED'], size: 100 } } }),
  );
  const again = invited.find((user) => user.email === email.toLowerCase());
  if (again) {
    const params = { path: { id: again.id } };
    const user = await bodyOf(api.POST('/api/v1/users/{id}/resend-invitation', { params }));
    if (options.role.length > 0 || options.name !== undefined || options.admin)
      output.note(`${user.email} was invited before: --role, --name and --admin change nothing`);
    output.result(user, `${user.email} is invited again: ${user.invitationUrl ?? ''}`);
    return;
  }
  const roleIds = await idsOf(api, 'role', options.role);
  const name = options.name === undefined ? {} : { name: options.name };
  const body = { email, roleIds, isOrgAdmin: options.admin ?? false, ...name };
  const user = await bodyOf(api.POST('/api/v1/users', { body }));
  output.result(user, `${user.email} is invited: ${user.invitationUrl ?? ''}`);
}

async function passwordLink({ api, name, output }: Call): Promise<void> {
  const path = { id: await idOf(api, 'user', name) };
  const link = await bodyOf(api.POST('/api/v1/users/{id}/password-link', { params: { path } }));
  output.result(link, link.passwordResetUrl);
}

async function createService({ api, name, options, output }: Call<InviteOptions>): Promise<void> {
  const body = { isService: true, name, roleIds: await idsOf(api, 'role', options.role) };
  const user = await bodyOf(api.POST('/api/v1/users', { body }));
  const own = pasted(name);
  const next = `drawbridge keys create ${own} --user ${own}`;
  output.result(user, `${name} is a service user; next: ${next}`);
}
