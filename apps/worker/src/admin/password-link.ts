import type { Command } from 'commander';
import { SYSTEM_ACTOR, type Tx } from '#entities';
import { newOpaqueToken } from '#secrets';
import { accountOf, withOrganization, withUrl } from './accounts';
import { stores, withDatabase } from './deployment';
import { note, print, run, verb } from './program';

const AN_HOUR_SECONDS = 60 * 60;

interface Options {
  readonly organization?: string;
  readonly url: string;
}

/** For those whom no administrator can help: the only administrator, and operators of the platform. */
export function addPasswordLink(program: Command): void {
  const command = verb(
    program,
    'password-link',
    'print a link with which a user sets a new password',
    ['ada@example.com --url https://drawbridge.example.com', 'ada@example.com --organization acme'],
    'Anyone with the link can set it: it counts once, for an hour.',
  ).argument('<email>');
  withUrl(withOrganization(command)).action(
    run((email: string, options: Options) =>
      withDatabase(async (database) => {
        const { link, named } = await database.transaction((tx) => create(tx, email, options));
        note(`For ${named}:`);
        print(link);
      }),
    ),
  );
}

/** @throws Error unless exactly one user matches */
async function create(
  tx: Tx,
  given: string,
  { organization, url }: Options,
): Promise<{ readonly link: string; readonly named: string }> {
  const { id, email, organizationId, organizationSlug } = await accountOf(tx, given, organization);
  const { plainText, hash: tokenHash } = newOpaqueToken();
  const reset = { organizationId, userId: id, purpose: 'RESET', tokenHash } as const;
  await stores.accountTokens.create(tx, { ...reset, ttlSeconds: AN_HOUR_SECONDS });
  await stores.audit.write(tx, organizationId, {
    ...SYSTEM_ACTOR,
    eventType: 'PASSWORD_RESET_REQUESTED',
    resourceType: 'USER',
    resourceId: id,
    resourceName: email,
  });
  return { link: `${url}/reset-password/${plainText}`, named: `${email} (organization ${organizationSlug})` };
}
