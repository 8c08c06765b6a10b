import { Argument, Option, type Command } from 'commander';
import { countOption, resourceOption, subcommand, type Common, type Runner } from '../program';
import type { Shell } from './completion';
import type { CreateKeyOptions } from './keys';
import type { AddRuleOptions, InviteOptions, UserOptions } from './organization';

const repeated = (value: string, previous: readonly string[]): string[] => [...previous, value];

/** What an organization consists of, and what helps with all of it. */
export function registerOrganizationCommands(program: Command, runner: Runner): void {
  registerLists(program, runner);
  registerKeys(program, runner);
  registerStaticRules(program, runner);

  subcommand(program, 'doctor', 'check everything between this machine and a session', ['doctor']).action(
    (options: Common) =>
      runner(async (output) => (await import('./doctor.js')).doctor(options, output), options),
  );

  subcommand(program, 'completion', 'print what makes a shell complete commands', [
    'completion bash >> ~/.bashrc',
    'completion zsh > "${fpath[1]}/_drawbridge"',
    'completion fish > ~/.config/fish/completions/drawbridge.fish',
  ])
    .addArgument(new Argument('<shell>').choices(['bash', 'zsh', 'fish']))
    .action((shell: Shell, options: Common) =>
      runner(async (output) => (await import('./completion.js')).completion(program, shell, output), options),
    );
}

function registerLists(program: Command, runner: Runner): void {
  const resources = subcommand(program, 'resources', 'list the resources', [
    'resources',
    'resources show database',
  ])
    .option('--assigned', 'only those of your roles')
    .action((options: Common & { assigned?: boolean }) =>
      runner(async (output) => (await import('./organization.js')).listResources(options, output), options),
    );
  subcommand(resources, 'show', 'show a resource', ['resources show database'])
    .argument('<name|id>')
    .action((name: string, options: Common) =>
      runner(
        async (output) => (await import('./organization.js')).showResource(name, options, output),
        options,
      ),
    );

  const roles = subcommand(program, 'roles', 'list the roles (administrators)', ['roles']).action(
    (options: Common) =>
      runner(async (output) => (await import('./organization.js')).listRoles(options, output), options),
  );
  subcommand(roles, 'show', 'show a role', ['roles show developers'])
    .argument('<name|id>')
    .action((name: string, options: Common) =>
      runner(async (output) => (await import('./organization.js')).showRole(name, options, output), options),
    );

  const users = subcommand(program, 'users', 'list the users (administrators)', ['users --search ada'])
    .option('--search <text>', 'only users whose name or e-mail contains this')
    .action((options: UserOptions & Common) =>
      runner(async (output) => (await import('./organization.js')).listUsers(options, output), options),
    );
  subcommand(users, 'invite', 'invite a user by mail', ['users invite ada@example.com --role developers'])
    .argument('<email>')
    .addOption(new Option('--role <name|id>', 'may be repeated').argParser(repeated).default([], 'none'))
    .option('--name <name>')
    .option('--admin', 'as an administrator')
    .action((email: string, options: InviteOptions & Common) =>
      runner(
        async (output) => (await import('./organization.js')).inviteUser(email, options, output),
        options,
      ),
    );
}

function registerKeys(program: Command, runner: Runner): void {
  const keys = subcommand(program, 'keys', 'list the API keys (administrators)', ['keys']).action(
    (options: Common) =>
      runner(async (output) => (await import('./keys.js')).listKeys(options, output), options),
  );
  subcommand(keys, 'create', 'make an API key, and print it once', [
    'keys create pipeline --user SERVICE_USER_ID --scope sessions:write --scope sessions:read --scope resources:read',
  ])
    .argument('<name>')
    .addOption(
      new Option('--scope <scope>', 'may be repeated').argParser(repeated).default([]).makeOptionMandatory(),
    )
    .option('--user <id>', 'whom it acts for: a service user, for a program (default: you)')
    .addOption(countOption('--expires <days>', 'when it ends (default: never)', 3650))
    .action((name: string, options: CreateKeyOptions & Common) =>
      runner(async (output) => (await import('./keys.js')).createKey(name, options, output), options),
    );
  subcommand(keys, 'revoke', 'make an API key useless', ['keys revoke KEY'])
    .argument('<key>', 'its id')
    .action((id: string, options: Common) =>
      runner(async (output) => (await import('./keys.js')).revokeKey(id, options, output), options),
    );
}

function registerStaticRules(program: Command, runner: Runner): void {
  const rules = subcommand(program, 'static-rules', 'list the static IP rules (administrators)', [
    'static-rules',
  ]).action((options: Common) =>
    runner(async (output) => (await import('./organization.js')).listStaticRules(options, output), options),
  );
  subcommand(rules, 'add', 'allow an address or a range until it is removed', [
    'static-rules add 198.51.100.0/24 --label office --resource database',
  ])
    .argument('<address>')
    .requiredOption('--label <text>', 'what it is')
    .addOption(resourceOption('a resource, at least one', 'none'))
    .action((address: string, options: AddRuleOptions & Common) =>
      runner(
        async (output) => (await import('./organization.js')).addStaticRule(address, options, output),
        options,
      ),
    );
  subcommand(rules, 'remove', 'remove a static IP rule', ['static-rules remove RULE'])
    .argument('<rule>', 'its id')
    .action((id: string, options: Common) =>
      runner(
        async (output) => (await import('./organization.js')).removeStaticRule(id, options, output),
        options,
      ),
    );
}
