import { difference, unionOf, type Traffic } from '#rules';
import type { HostState } from './state/host-state';
import { desiredElements, enforcedRules } from './enforced-rules';
import { formatTrafficList } from './format';
import { includesTcp, withoutAccess, type Connection } from './guarding/connections';
import { CONFIRM_WITHIN_MS } from './guarding/guarded-ports';
import { bounded, type Limits } from './guarding/limits';
import type { Elements } from './nft/elements';

/** What serving would do to this host. */
export interface Preview {
  readonly elements: Elements;
  /** for the operator, one per line */
  readonly warnings: readonly string[];
}

export interface HostView {
  readonly limits: Limits;
  /** closed while nothing else is known */
  readonly guard: readonly Traffic[];
  readonly connections: readonly Connection[];
  /** sshd's SSH_CONNECTION: the caller's address and port, and the host's */
  readonly sshConnection: string | undefined;
  /** milliseconds of running time */
  readonly now: number;
}

/** @param name of the host in resources */
export function previewOf(state: HostState, name: string, view: HostView): Preview {
  const { limits, guard, connections, now } = view;
  const named = unionOf(unionOf(state.guarded, state.proposed), guard);
  const { allowed, refused } = bounded(limits, named);
  const { rules } = enforcedRules(state.rules, limits, now);
  const caller = callerOf(view.sshConnection);
  const concerned = [...(caller ? [caller] : []), ...connections].filter(
    ({ port }) => includesTcp(allowed, port) && !includesTcp(limits.never, port),
  );
  const cut = withoutAccess(concerned, rules, now);
  const isCallerCut = caller !== null && cut.includes(caller);
  const others = cut.filter(({ address, port }) => address !== caller?.address || port !== caller.port);
  const unverified = difference(state.proposed, state.guarded);
  return {
    elements: desiredElements(allowed, rules, { limits, now: () => now }),
    warnings: [
      ...(named.length === 0 ? [`No resource names ${name}: nothing would be guarded`] : []),
      ...(unverified.length > 0
        ? [`Guarded once the resource is verified: ${formatTrafficList(unverified)}`]
        : []),
      ...refused.map((entry) => `Would not be guarded: ${formatTrafficList([entry])}, ${entry.reason}`),
      ...(isCallerCut ? [callerMessage(caller)] : []),
      ...othersMessages(others, guard),
    ],
  };
}

function callerOf(sshConnection: string | undefined): Connection | null {
  const [address, , , port] = sshConnection?.split(' ') ?? [];
  return address === undefined || port === undefined ? null : { address, port: Number(port) };
}

const callerMessage = ({ address, port }: Connection): string =>
  `YOUR OWN CONNECTION from ${address} to tcp ${port} would be cut: it has no access. Start a session for ${address} first, ` +
  `or use --always-allow ${address}, or --never tcp/${port}. Without any of them the agent leaves tcp ${port} open, unless ` +
  `--guard names it or drawbridge-agent confirm is called`;

const MAX_LISTED = 10;

function othersMessages(others: readonly Connection[], guard: readonly Traffic[]): string[] {
  const atOnce = others.filter(({ port }) => includesTcp(guard, port));
  const later = others.filter(({ port }) => !includesTcp(guard, port));
  return [
    ...(atOnce.length > 0
      ? [`${listOf(atOnce)}. --guard closes its ports without a question, and one of them may be yours`]
      : []),
    ...(later.length > 0
      ? [
          `${listOf(later)}. The agent leaves their ports open, unless drawbridge-agent confirm is called within ` +
            `${CONFIRM_WITHIN_MS / 1000} seconds or later`,
        ]
      : []),
  ];
}

function listOf(cut: readonly Connection[]): string {
  const listed = cut.slice(0, MAX_LISTED).map(({ address, port }) => `${address} to tcp ${port}`);
  const more = cut.length > MAX_LISTED ? ` and ${cut.length - MAX_LISTED} more` : '';
  return `Connections that would be cut: ${listed.join(', ')}${more}`;
}
