import { serverOf } from '../profiles/connection';
import type { Call } from '../program';
import { observe } from '../access/held-access';

export interface IpOptions {
  readonly egress?: boolean;
}

const EGRESS_CONNECTIONS = 6;

/** The addresses that the server observes. Needs no sign-in. */
export async function ip({ options, output }: Call<IpOptions>): Promise<void> {
  const { ipv4, ipv6 } = await observe(serverOf(options), options.egress ? EGRESS_CONNECTIONS : 1, output);
  const isPool = ipv4.length > 1 || ipv6.length > 1;
  if (options.egress) output.result({ ipv4, ipv6, isPool }, [...ipv4, ...ipv6].join('\n'));
  else {
    const own = { ipv4Address: ipv4[0] ?? null, ipv6Address: ipv6[0] ?? null };
    output.result(own, [...ipv4, ...ipv6].join('\n'));
  }
  if (isPool) {
    output.note(
      'connections leave through several addresses: hold access for all of them with --addresses all',
    );
  }
}
