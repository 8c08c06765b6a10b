import { WITH_ACCOUNTS, type Account } from '../accounts/accounts';
import { required, type Input } from './input';

export const ACCOUNT_FIELDS = ['provider', 'account', 'name', 'state', 'roles', 'isOpen', 'late', 'targets'];

/** @throws BadInput */
export const readAccount = (input: Input): Account => ({
  provider: required('provider', input.oneOf('provider', WITH_ACCOUNTS), WITH_ACCOUNTS),
  account: required('account', input.filledText('account')),
  name: input.filledText('name') ?? 'Another',
  state: input.filledText('state') ?? 'ACTIVE',
  roles: input.texts('roles') ?? [],
  isOpen: input.flag('isOpen') ?? false,
  late: input.integer('late', 0, 10) ?? 0,
});
