import { withoutHidden } from '#rules';
import { unexpectedResponse } from './call-failure';

/** An account as the list of its provider names it. */
export interface CloudAccount {
  readonly account: string;
  readonly label: string | null;
  /** in the words of the provider */
  readonly state: string | null;
}

/** One page of a list. Pages may be empty and not be the last. */
interface Page {
  readonly accounts: readonly CloudAccount[];
  /** names the next page; null: this is the last one */
  readonly next: string | null;
}

const MAX_ACCOUNTS = 5000;
const MAX_PAGES = 600;
const MAX_LABEL = 100;

/** What a provider says of an account, which others have named. */
export const cloudAccount = (account: unknown, label: unknown, state: unknown): CloudAccount => ({
  account: shown(account)?.toLowerCase() ?? '',
  label: shown(label),
  state: shown(state),
});

const shown = (text: unknown): string | null =>
  (typeof text === 'string' && withoutHidden(text).trim().slice(0, MAX_LABEL)) || null;

/**
 * Reads a list, of which the first 5,000 accounts count.
 * @param form of an account: others are left out
 * @throws CallFailure
 */
export async function readAccounts(
  cloud: string,
  form: RegExp,
  readPage: (token: string | null) => Promise<Page>,
): Promise<CloudAccount[]> {
  const found = new Map<string, CloudAccount>();
  let token: string | null = null;
  for (let count = 0; count < MAX_PAGES; count += 1) {
    const { accounts, next }: Page = await readPage(token);
    for (const one of accounts) if (form.test(one.account)) found.set(one.account, one);
    if (next === null || found.size >= MAX_ACCOUNTS) return [...found.values()].slice(0, MAX_ACCOUNTS);
    if (next === token) break;
    token = next;
  }
  throw unexpectedResponse(cloud, 'the list of accounts');
}
