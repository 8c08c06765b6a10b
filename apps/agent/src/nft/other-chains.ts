import { fields } from '../state/host-state';
import { TABLE } from './ruleset';

type Part = Readonly<Record<string, unknown>>;

const IP_FAMILIES: ReadonlySet<unknown> = new Set(['inet', 'ip', 'ip6']);
/** What drops a packet, or may: a program, a map whose verdicts are not listed, what iptables rejects. */
const DROPS = /"(drop|reject|queue)":|"vmap":.*"data":"@|"xt":(null|\{[^}]*"name":"REJECT")/;
const GOES_TO = /"(?:jump|goto)":\{"target":("(?:[^"\\]|\\.)*")/g;

/** The chains of other programs that packets for this host pass. @param json of `nft --json list chains` */
export const inputChains = (json: string): Part[] =>
  partsOf(json, 'chain').filter(
    ({ family, table, hook }) =>
      hook === 'input' && IP_FAMILIES.has(family) && `${String(family)} ${String(table)}` !== TABLE,
  );

/** Whether a rule of a chain, or of one that it leads to, may drop packets. @param json of `nft --json list table` */
export function mayDrop(json: string, chain: unknown): boolean {
  const rules = partsOf(json, 'rule');
  const reached = new Set([chain]);
  // the loop also comes to what is added in it
  for (const name of reached)
    for (const rule of rules.filter((one) => one['chain'] === name)) {
      const text = JSON.stringify(rule['expr']);
      if (DROPS.test(text)) return true;
      for (const [, target = ''] of text.matchAll(GOES_TO)) reached.add(JSON.parse(target));
    }
  return false;
}

function partsOf(json: string, kind: string): Part[] {
  const { nftables } = fields(JSON.parse(json));
  return (Array.isArray(nftables) ? nftables : []).map((part: unknown) => fields(fields(part)[kind]));
}
