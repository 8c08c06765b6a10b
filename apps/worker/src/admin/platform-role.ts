import { type Command, Option } from 'commander';
import { SYSTEM_ACTOR, type Tx } from '#entities';
import { emailForm, type PlatformRole } from '#rules';
import { accountOf, withOrganization } from './accounts';
import { stores, withDatabase } from './deployment';
import { parsed, print, run, verb } from './program';

const ROLES = ['SUPER_ADMIN', 'SUPPORT', 'CUSTOMER'] as const satisfies readonly PlatformRole[];

interface Options {
  readonly organization?: string;
  readonly role: PlatformRole;
}

/** Gives a user the right to see and suspend organizations. */
export function addPlatformRole(program: Command): void {
  const command = verb(
    program,
    'platform-role',
    'give a user a platform role: the right to see and suspend organizations through /platform',
    [
      'ada@example.com',
      'ada@example.com --organization acme --role SUPPORT',
      'ada@example.com --role CUSTOMER',
    ],
    `SUPER_ADMIN sees and suspends, SUPPORT sees, CUSTOMER takes the role back. It counts from the user's next request on.`,
  ).argument('<email>');
  withOrganization(command)
    .addOption(
      new Option('--role <role>', ROLES.join(', '))
        .argParser(
          parsed(`one of ${ROLES.join(', ')}`, (text) => ROLES.find((role) => role === text.toUpperCase())),
        )
        .default('SUPER_ADMIN'),
    )
    .action(
      run((email: string, options: Options) =>
        withDatabase(async (database) =>
          print(await database.transaction((tx) => grant(tx, emailForm(email), options))),
        ),
      ),
    );
}

/** @returns what has happened @throws Error unless exactly one user matches */
async function grant(tx: Tx, given: string, { organization, role }: Options): Promise<string> {
  const user = await accountOf(tx, given, organization);
  const { email } = user;
  const named = `${email} (organization ${user.organizationSlug})`;
  if (user.platformRole === role) return `${named} is ${role} already.`;
  await stores.platform.setPlatformRole(tx, user.id, role);
  await stores.audit.write(tx, user.organizationId, {
    ...SYSTEM_ACTOR,
    eventType: 'PLATFORM_ROLE_GRANTED',
    resourceType: 'USER',
    resourceId: user.id,
    resourceName: email,
    details: { from: user.platformRole, to: role },
  });
  return `${named} is ${role} now.`;
}
