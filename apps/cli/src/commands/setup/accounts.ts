import { Option, type Command } from 'commander';
import { type Api, bodyOf, everyPage, type Schemas } from '#client';
import { CommandFailure, EXIT, type ExitCode } from '../../exit-codes';
import { define, listOption, type Call } from '../../program';
import { timeText } from '../../terminal/times';
import { listOptions, listQuery, pairsOf, type ListOptions } from './options';
import { idOf } from './things';

type Account = Schemas['CloudAccountDto'];

interface AccountsOptions extends ListOptions {
  readonly refresh?: boolean;
  readonly verify?: string;
  readonly label: readonly string[];
}

export function registerAccounts(program: Command): void {
  define(program, {
    usage: 'accounts <credential>',
    about: 'list the accounts that a credential reaches, after labelling or checking some (administrators)',
    examples: [
      'accounts aws --search payments',
      'accounts aws --label 123456789012=Payments',
      'accounts aws --verify 123456789012',
      'accounts aws --refresh',
    ],
    options: [
      listOption('--label <account=name>', 'what the account is called; empty: as its provider calls it'),
      new Option('--verify <account>', 'let this account check the credential'),
      new Option('--refresh', 'have the provider asked for its accounts, which takes some seconds'),
      ...listOptions(),
    ],
    run: accounts,
  });
}

async function accounts({ api, name, options, output }: Call<AccountsOptions>): Promise<ExitCode> {
  const id = await idOf(api, 'credential', name);
  for (const [account, label] of pairsOf(options.label, '--label')) {
    const params = { path: { id, account } };
    await api.PATCH('/api/v1/credentials/{id}/accounts/{account}', {
      params,
      body: { label: label || null },
    });
  }
  if (options.refresh) {
    await api.POST('/api/v1/credentials/{id}/accounts/refresh', { params: { path: { id } } });
    output.note('the provider is asked: list them again in some seconds');
  }
  const checked = options.verify === undefined ? null : await verifyAccount(api, id, options.verify);
  const found = await everyPage((page) => {
    const params = { path: { id }, query: { ...page, ...listQuery(options) } as object };
    return bodyOf(api.GET('/api/v1/credentials/{id}/accounts', { params }));
  });
  const columns = {
    account: ({ account }: Account) => account,
    name: ({ label }: Account) => label ?? '',
    listed: ({ listedState }: Account) => listedState ?? '',
    resources: ({ resources }: Account) => String(resources),
    accepted: ({ isValid }: Account) => (isValid === null ? 'not checked' : isValid ? 'yes' : 'NO'),
    checked: ({ lastVerifiedAt }: Account) => timeText(lastVerifiedAt),
  };
  output.list('accounts', found, columns, 'No account: a resource names its own with --account.');
  if (checked === null || checked.isValid === true) return EXIT.ok;
  throw new CommandFailure(EXIT.failed, checked.verificationError ?? `${checked.account} was not checked`);
}

function verifyAccount(api: Api, id: string, account: string): Promise<Account> {
  const params = { path: { id, account } };
  return bodyOf(api.POST('/api/v1/credentials/{id}/accounts/{account}/verify', { params }));
}
