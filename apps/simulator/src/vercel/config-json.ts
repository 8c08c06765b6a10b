import { createHash } from 'node:crypto';
import type { Firewall } from './ledger-rules';

/** A configuration as Vercel returns it. */
export function configJson(project: string, { isEnabled, rules }: Firewall): Record<string, unknown> {
  const shown = rules.map((rule) => ({ ...rule, valid: true, validationErrors: null }));
  return {
    id: `waf_${createHash('sha256').update(JSON.stringify(shown)).digest('hex').slice(0, 12)}`,
    ownerId: 'simulated-user',
    projectKey: project,
    firewallEnabled: isEnabled,
    rules: shown,
    ips: [],
    changes: [],
    managedRules: {},
    crs: {},
  };
}
