import { Option, type Command } from 'commander';
import { bodyOf, shortId } from '#client';
import { define, group, resourceOption, type Call } from '../../program';
import { idsOf, listing, removing, short } from './things';

export function registerStaticRules(program: Command): void {
  const rules = group(program, 'static-rules', 'addresses with lasting access (administrators)');
  define(rules, {
    ...listing('rule', {
      name: 'staticIpRules',
      columns: {
        address: ({ ipAddress }) => ipAddress,
        label: ({ label }) => label,
        status: ({ status }) => status,
        resources: ({ resources }) => resources.map(({ resourceName }) => resourceName).join(', '),
        id: short,
      },
    }),
    examples: ['static-rules'],
  });
  define(rules, {
    usage: 'add <address>',
    about: 'allow an address or a range until it is removed',
    examples: ['static-rules add 198.51.100.0/24 --label office --resource database'],
    required: [new Option('--label <text>', 'what it is'), resourceOption('a resource', 'none')],
    run: add,
  });
  define(rules, { ...removing('rule', 'end this access'), examples: ['static-rules remove office'] });
}

interface AddOptions {
  readonly label: string;
  readonly resource: readonly string[];
}

async function add({ api, name, options, output }: Call<AddOptions>): Promise<void> {
  const resourceIds = await idsOf(api, 'resource', options.resource);
  const body = { ipAddress: name, label: options.label, resourceIds };
  const rule = await bodyOf(api.POST('/api/v1/static-ip-rules', { body }));
  output.result(rule, `${shortId(rule.id)}  ${rule.ipAddress}  ${rule.status}`);
}
