import { isEmail } from 'class-validator';
import type { Command } from 'commander';
import { SYSTEM_ACTOR, type Tx } from '#entities';
import { emailForm, hiddenCharacters } from '#rules';
import { newOpaqueToken } from '#secrets';
import { withUrl } from './accounts';
import { stores, withDatabase } from './deployment';
import { parsed, print, run, verb } from './program';

const MAX_LENGTH = 200;
const SEVEN_DAYS_SECONDS = 7 * 24 * 60 * 60;

interface Options {
  readonly name: string;
  readonly email: string;
  readonly url: string;
}

/** Sets up an organization and invites its first administrator. */
export function addCreateOrganization(program: Command): void {
  const command = verb(
    program,
    'create-organization',
    'set up an organization and its first administrator, also where registration is closed',
    ['--name Acme --email ada@example.com --url https://drawbridge.example.com'],
    'Prints the link with which the administrator chooses a password. Anyone with the link can: it counts once, for a week.',
  )
    .requiredOption(
      '--name <name>',
      'of the organization',
      parsed('a name of 1 to 200 visible characters', readName),
    )
    .requiredOption('--email <address>', 'of the administrator', parsed('an e-mail address', readEmail));
  withUrl(command).action(
    run((options: Options) =>
      withDatabase(async (database) => print(await database.transaction((tx) => create(tx, options)))),
    ),
  );
}

function readName(text: string): string | undefined {
  const name = text.trim().normalize('NFC');
  return name !== '' && name.length <= MAX_LENGTH && hiddenCharacters(name).length === 0 ? name : undefined;
}

function readEmail(text: string): string | undefined {
  const email = emailForm(text);
  return isEmail(email) && hiddenCharacters(email).length === 0 ? email : undefined;
}

/** @returns the link for the administrator */
async function create(tx: Tx, { name, email, url }: Options): Promise<string> {
  const { userId, organizationId } = await stores.accounts.registerOrganization(tx, {
    organizationName: name,
    email,
    passwordHash: null,
    name: email.slice(0, email.indexOf('@')),
  });
  const { plainText, hash: tokenHash } = newOpaqueToken();
  const invitation = { organizationId, userId, purpose: 'INVITE', tokenHash } as const;
  await stores.accountTokens.create(tx, { ...invitation, ttlSeconds: SEVEN_DAYS_SECONDS });
  await stores.audit.write(tx, organizationId, {
    ...SYSTEM_ACTOR,
    eventType: 'ORGANIZATION_REGISTERED',
    resourceType: 'ORGANIZATION',
    resourceId: organizationId,
    resourceName: name,
  });
  return `${url}/accept-invitation/${plainText}`;
}
