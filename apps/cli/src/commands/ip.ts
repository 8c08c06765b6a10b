import { EXIT, type ExitCode } from '../exit-codes';
import type { Output } from '../output';
import { serverOf, type ConnectionOptions } from '../profiles/connection';
import { observe } from '../access/held-access';

export interface IpOptions extends ConnectionOptions {
  readonly egress?: boolean;
}

const EGRESS_CONNECTIONS = 6;

/** The addresses that the server observes. Needs no sign-in. */
export async function ip(options: IpOptions, output: Output): Promise<ExitCode> {
  const { ipv4, ipv6 } = await observe(serverOf(options), options.egress ? EGRESS_CONNECTIONS : 1);
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
  return EXIT.ok;
}
