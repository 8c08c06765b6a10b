import { Option, type Command } from 'commander';
import { bodyOf, definedFields, type Schemas } from '#client';
import { define, group, listOption, type Call } from '../../program';
import { timeText } from '../../terminal/times';
import { pairsOf, roleOption, scopeOption, scopesOf } from './options';
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
        '--condition environment=production --role developers',
    ],
    required: [
      new Option('--preset <system>', 'GITHUB, GITLAB, BUILDKITE, HCP_TERRAFORM or CUSTOM'),
      listOption('--condition <claim=value>', 'a claim and an allowed value'),
    ],
    options: [
      scopeOption(),
      roleOption(),
      new Option('--issuer <url>', 'default: the public one of the system'),
    ],
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
    scopes: scopesOf(options.scope) as Trust['scopes'],
    roleIds: await idsOf(api, 'role', options.role),
    ...definedFields({ issuer: options.issuer }),
  };
  const trust = await bodyOf(api.POST('/api/v1/oidc-trusts', { body }));
  for (const warning of trust.warnings) output.note(warning);
  output.result(trust, `${name} is trusted. ${nextOf(trust)}`);
}

/** What its jobs are to be given. */
function nextOf({ audience, preset }: Trust): string {
  // where jobs reach the server, who sets it up may reach it otherwise
  const url = audience.replace(/\/o\/[^/]+$/, '');
  const request = `buildkite-agent oidc request-token --claim organization_id --claim pipeline_id --audience ${audience}`;
  const lines = {
    GITHUB: [`url: ${url}`, `trust: ${audience}`],
    GITLAB: [
      'id_tokens:',
      '  DRAWBRIDGE_ID_TOKEN:',
      `    aud: ${audience}`,
      'variables:',
      `  DRAWBRIDGE_URL: ${url}`,
    ],
    BUILDKITE: [`export DRAWBRIDGE_URL=${url}`, `export DRAWBRIDGE_ID_TOKEN=$$(${request})`],
    HCP_TERRAFORM: [
      `TFC_WORKLOAD_IDENTITY_AUDIENCE_DRAWBRIDGE=${audience}`,
      `DRAWBRIDGE_URL=${url}`,
      '(environment variables of the workspace)',
    ],
    CUSTOM: [`export DRAWBRIDGE_URL=${url}`, `export DRAWBRIDGE_ID_TOKEN=… # issued for ${audience}`],
  }[preset];
  return ['Paste into its job:', ...lines].join('\n  ');
}
