import { EGRESS_CONNECTIONS } from '#client';
import { serverOf } from '../profiles/connection';
import type { Call } from '../program';
import { observe } from '../access/held-access';

export interface IpOptions {
  readonly egress?: boolean;
}

/** The addresses that the server observes. Needs no sign-in. */
export async function ip({ options, output }: Call<IpOptions>): Promise<void> {
  const { ipv4, ipv6 } = await observe(
    serverOf(options),
    options.egress ? EGRESS_CONNECTIONS.pool : 1,
    output,
  );
  const isPool = ipv4.length > 1 || ipv6.length > 1;
  const own = { ipv4Address: ipv4[0] ?? null, ipv6Address: ipv6[0] ?? null };
  output.result(options.egress ? { ipv4, ipv6, isPool } : own, [...ipv4, ...ipv6].join('\n'));
  if (isPool) {
    output.note(
      'connections leave through several addresses: hold access for all of them with --addresses all',
    );
  }
}
