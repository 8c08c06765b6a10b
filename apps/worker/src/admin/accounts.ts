import type { Command } from 'commander';
import type { Tx } from '#entities';
import type { PlatformUserRow } from '#tenant-store';
import { stores } from './deployment';
import { parsed } from './program';

/** The account with an e-mail address. @param organization its slug; undefined: there must be one account */
export async function accountOf(
  tx: Tx,
  email: string,
  organization: string | undefined,
): Promise<PlatformUserRow> {
  const address = email.trim().toLowerCase();
  const [user, ...others] = await stores.platform.usersByEmail(tx, address, organization ?? null);
  const where = organization === undefined ? '' : ` in the organization ${organization}`;
  if (!user) throw new Error(`There is no active user ${address}${where}: register or invite them first.`);
  if (others.length > 0) {
    const slugs = [user, ...others].map((known) => known.organizationSlug).join(', ');
    throw new Error(`Several organizations know ${address}: add --organization with one of ${slugs}.`);
  }
  return user;
}

/** Which of the organizations that know an e-mail address. */
export const withOrganization = (command: Command): Command =>
  command.option(
    '--organization <slug>',
    'which of the organizations that know the e-mail; needed when several do',
  );

/** Where the pages are that links open. */
export const withUrl = (command: Command): Command =>
  command.requiredOption(
    '--url <address>',
    'under which people reach the API (default: PUBLIC_URL)',
    parsed('an http or https address', readUrl),
    process.env['PUBLIC_URL'] || undefined,
  );

const readUrl = (text: string): string | undefined =>
  /^https?:\/\/\S+$/.test(text) && URL.canParse(text) ? text.replace(/\/$/, '') : undefined;
