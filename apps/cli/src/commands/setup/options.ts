import { Option } from 'commander';
import { definedFields } from '#client';
import { usageFailure } from '../../exit-codes';
import { listOption } from '../../program';

/** What every list is narrowed and ordered by. */
export interface ListOptions {
  readonly search?: string;
  readonly sort?: string;
}

export const listOptions = (): Option[] => [
  new Option('--search <text>', 'only those with this in a name or another text'),
  new Option('--sort <field>', 'in order of this, as -name in descending order'),
];

export const listQuery = ({ search, sort }: ListOptions): ListOptions => definedFields({ search, sort });

export const typeOption = (): Option =>
  new Option('--type <type>', 'where several are possible, as GET /resources/types lists them');
export const setOption = (what: string): Option => listOption('--set <name=value>', what);
export const noVerifyOption = (): Option => new Option('--no-verify', 'do not let the provider check it');
export const roleOption = (): Option => listOption('--role <name|id>', 'a role');
export const scopeOption = (): Option =>
  listOption('--scope <scope>', 'sessions:write, sessions:read, resources:read …', RUN_SCOPES.join(', '));

/** What `run` and the action need. */
const RUN_SCOPES = ['sessions:write', 'sessions:read'];

export const labelOption = (what: string): Option => listOption('--label <key=value>', what);

/** `env=prod` twice means the last. @throws CommandFailure */
export const labelsOf = (given: readonly string[]): Record<string, string> =>
  Object.fromEntries(pairsOf(given, '--label'));

/** The scopes that are given, else those that `run` needs. */
export const scopesOf = (given: readonly string[]): string[] => [...(given.length > 0 ? given : RUN_SCOPES)];

/** Reads `name=value`; a name may come several times. @throws CommandFailure naming the option */
export function pairsOf(given: readonly string[], option: string): [name: string, value: string][] {
  return given.map((text) => {
    const [, name, value] = /^([^=]+)=([^]*)$/.exec(text) ?? [];
    if (name !== undefined && value !== undefined) return [name, value];
    // not repeated: it may be a secret
    throw usageFailure(`${option} must be NAME=VALUE`);
  });
}
