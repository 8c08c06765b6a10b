import 'reflect-metadata';
import { parseArgs } from 'node:util';
import { type PlatformRole, SYSTEM_ACTOR, type Tx } from '#entities';
import { AuditStore, PlatformStore } from '#tenant-store';
import { OperatorError, withDatabase } from './operator-command';

const ROLES = ['SUPER_ADMIN', 'SUPPORT', 'CUSTOMER'] as const satisfies readonly PlatformRole[];

const HELP = `Gives a user a platform role: the right to see and suspend organizations through /platform.

  npm run platform-admin -- ada@example.com [--organization slug] [--role SUPER_ADMIN|SUPPORT|CUSTOMER]

  --organization  which of the organizations that know the e-mail; needed only when several do
  --role          SUPER_ADMIN (default) sees and suspends, SUPPORT sees, CUSTOMER takes the role back

The database is DATABASE_URL's, else the one that npm start keeps in DATA_DIR (.data) and is running.
The role counts from the user's next request on.
`;

const SEE_HELP = 'For help: npm run platform-admin -- --help\n';

interface Arguments {
  readonly email: string;
  readonly organizationSlug: string | null;
  readonly role: PlatformRole;
}

/** @returns null when help was requested @throws OperatorError */
function readArguments(given: readonly string[]): Arguments | null {
  const { values, positionals } = parse(given);
  if (values.help) return null;
  const [email, ...more] = positionals;
  if (email === undefined || more.length > 0) throw new OperatorError('Name one user by e-mail.');
  const role = ROLES.find((known) => known === values.role.toUpperCase());
  if (!role) throw new OperatorError(`--role must be one of ${ROLES.join(', ')}.`);
  return { email: email.trim().toLowerCase(), organizationSlug: values.organization ?? null, role };
}

function parse(given: readonly string[]) {
  try {
    return parseArgs({
      args: [...given],
      allowPositionals: true,
      options: {
        help: { type: 'boolean', short: 'h', default: false },
        organization: { type: 'string' },
        role: { type: 'string', default: 'SUPER_ADMIN' },
      },
    });
  } catch (error) {
    throw new OperatorError((error as Error).message);
  }
}

/** @returns a message for the operator @throws OperatorError unless exactly one user matches */
async function grant(tx: Tx, { email, organizationSlug, role }: Arguments): Promise<string> {
  const platform = new PlatformStore();
  const [user, ...others] = await platform.usersByEmail(tx, email, organizationSlug);
  const where = organizationSlug === null ? '' : ` in the organization ${organizationSlug}`;
  if (!user)
    throw new OperatorError(`There is no active user ${email}${where}: register or invite them first.`);
  if (others.length > 0) {
    const slugs = [user, ...others].map((known) => known.organizationSlug).join(', ');
    throw new OperatorError(`Several organizations know ${email}: add --organization with one of ${slugs}.`);
  }
  const named = `${email} (organization ${user.organizationSlug})`;
  if (user.platformRole === role) return `${named} is ${role} already.\n`;
  await platform.setPlatformRole(tx, user.id, role);
  await new AuditStore().write(tx, user.organizationId, {
    ...SYSTEM_ACTOR,
    eventType: 'PLATFORM_ROLE_GRANTED',
    resourceType: 'USER',
    resourceId: user.id,
    resourceName: email,
    details: { from: user.platformRole, to: role },
  });
  return `${named} is ${role} now.\n`;
}

async function main(): Promise<void> {
  const given = readArguments(process.argv.slice(2));
  if (!given) {
    process.stdout.write(HELP);
    return;
  }
  await withDatabase({ applicationName: 'drawbridge-platform-admin', poolSize: 2 }, async (database) => {
    process.stdout.write(await database.transaction((tx) => grant(tx, given)));
  });
}

main().catch((error: unknown) => {
  const message =
    error instanceof OperatorError ? `${error.message}\n${SEE_HELP}` : `${String((error as Error).stack)}\n`;
  process.stderr.write(message);
  process.exitCode = 1;
});
