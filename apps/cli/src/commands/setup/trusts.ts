import { Option, type Command } from 'commander';
import { bodyOf, type Schemas } from '#client';
import { define, group, listOption, type Call } from '../../program';
import { timeText } from '../../terminal/times';
import { pairsOf, roleOption, scopeOption } from './options';
import { idsOf, listing, removing, short, showing, yes } from './things';

type Trust = Schemas['OidcTrustDto'];

export function registerTrusts(program: Command): void {
  const trusts = group(program, 'trusts', 'CI jobs that need no key (administrators)');
  define(trusts, {
    ...listing('trust', {
      name: 'trusts',
      columns: {
        name: ({ name }) => name,
        preset: ({ preset }) => preset,
        conditions: ({ conditions }) =>
          Object.entries(conditions)
            .map(([claim, values]) => `${claim}=${values.join('|')}`)
            .join(' '),
        enabled: ({ isEnabled }) => yes(isEnabled),
        'last used': ({ lastUsedAt }) => timeText(lastUsedAt),
        id: short,
      },
    }),
    examples: ['trusts'],
  });
  define(trusts, { ...showing('trust'), examples: ['trusts show deploy'] });
  define(trusts, {
    usage: 'create <name>',
    about: 'let in the jobs whose tokens meet all conditions',
    examples: [
      'trusts create deploy --preset GITHUB --condition repository_id=74 --condition repository_owner_id=65 ' +
        '--condition environment=production --scope sessions:write --scope sessions:read --role developers',
    ],
    required: [
      new Option('--preset <system>', 'GITHUB, GITLAB, BUILDKITE or CUSTOM'),
      listOption('--condition <claim=value>', 'a claim and an allowed value'),
      scopeOption(),
    ],
    options: [roleOption(), new Option('--issuer <url>', 'default: the public one of the system')],
    run: create,
  });
  define(trusts, {
    ...removing('trust', 'end the access of its jobs, and forget it'),
    examples: ['trusts remove deploy'],
  });
}

interface CreateOptions {
  readonly preset: string;
  readonly issuer?: string;
  readonly condition: readonly string[];
  readonly scope: readonly string[];
  readonly role: readonly string[];
}

async function create({ api, name, options, output }: Call<CreateOptions>): Promise<void> {
  const conditions: Record<string, string[]> = {};
  for (const [claim, value] of pairsOf(options.condition, '--condition')) {
    conditions[claim] = [...(conditions[claim] ?? []), value];
  }
  const body = {
    name,
    // the server names the presets and scopes there are
    preset: options.preset.toUpperCase() as Trust['preset'],
    conditions,
    scopes: [...options.scope] as Trust['scopes'],
    roleIds: await idsOf(api, 'role', options.role),
    ...(options.issuer === undefined ? {} : { issuer: options.issuer }),
  };
  const trust = await bodyOf(api.POST('/api/v1/oidc-trusts', { body }));
  for (const warning of trust.warnings) output.note(warning);
  output.result(trust, `${name} is trusted; its jobs request their token for ${trust.audience}`);
}
