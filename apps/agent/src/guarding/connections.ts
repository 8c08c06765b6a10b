import { networkInterfaces } from 'node:os';
import { addressText, grouped, type Traffic } from '#rules';
import { addressValue, bounds, familyOf, isHost } from '../nft/address-span';
import { readIfPresent } from '../state/durable-file';
import type { DesiredRule } from '../state/host-state';

/** An established TCP connection that another machine opened to this one. */
export interface Connection {
  /** of the other machine, canonical */
  readonly address: string;
  /** of this machine */
  readonly port: number;
}

const TABLES = ['/proc/self/net/tcp', '/proc/self/net/tcp6'];
const ESTABLISHED = '01';
const LISTENING = '0A';

/**
 * The established TCP connections of this machine's own programs, without those from itself. Not among them: UDP, and what
 * is forwarded to containers.
 */
export function establishedConnections(): Connection[] {
  const own = new Set(
    Object.values(networkInterfaces())
      .flatMap((list) => list ?? [])
      .map(({ address }) => address),
  );
  // a kernel without IPv6 has no table of it
  const tables = TABLES.map((path) => readIfPresent(path) ?? '');
  return readConnections(tables).filter(({ address }) => !own.has(address));
}

/** @param tables texts in the form of /proc/net/tcp */
export function readConnections(tables: readonly string[]): Connection[] {
  const sockets = tables.flatMap((table) => table.split('\n').slice(1)).flatMap(readSocket);
  const listening = new Set(sockets.filter(({ state }) => state === LISTENING).map(({ port }) => port));
  const found = new Map<string, Connection>();
  for (const { state, port, address } of sockets) {
    // a connection that this machine opened has a local port without a listener
    if (state !== ESTABLISHED || !listening.has(port) || isLoopback(address)) continue;
    found.set(`${address} ${port}`, { address, port });
  }
  return [...found].sort(([one], [other]) => one.localeCompare(other)).map(([, connection]) => connection);
}

/** `0: 0100007F:0016 0200000A:C350 01 ...`: addresses in words of the machine's byte order. */
function readSocket(line: string): { address: string; port: number; state: string }[] {
  const [, local = '', remote = '', state = ''] = line.trim().split(/\s+/);
  const port = Number.parseInt(local.split(':')[1] ?? '', 16);
  const address = addressOf(remote.split(':')[0] ?? '');
  return address === null || Number.isNaN(port) ? [] : [{ address, port, state }];
}

const MAPPED_IPV4 = 0xffffn << 32n;

function addressOf(hex: string): string | null {
  if (!/^([0-9A-F]{8}|[0-9A-F]{32})$/i.test(hex)) return null;
  // both architectures that the agent is built for are little-endian
  const words = hex.match(/.{8}/g)!.map((word) => word.match(/../g)!.toReversed().join(''));
  const value = BigInt(`0x${words.join('')}`);
  if (words.length === 1) return addressText(value, 4);
  return value >> 32n === MAPPED_IPV4 >> 32n ? addressText(value & 0xffffffffn, 4) : addressText(value, 6);
}

const isLoopback = (address: string): boolean => address.startsWith('127.') || address === '::1';

/** Whether a connection to this TCP port is part of the traffic. */
export const includesTcp = (traffic: readonly Traffic[], port: number): boolean =>
  traffic.some(
    ({ protocol, ports }) =>
      protocol === 'all' || (protocol === 'tcp' && (ports.length === 0 || ports.includes(port))),
  );

/** The connections whose addresses no rule lets in. @param now running time in milliseconds */
export function withoutAccess(
  connections: readonly Connection[],
  rules: readonly DesiredRule[],
  now: number,
): Connection[] {
  const valid = rules.filter(({ deadline }) => deadline > now);
  const ofHosts = grouped(
    valid.filter(({ cidr }) => isHost(cidr)),
    ({ cidr }) => cidr.slice(0, cidr.indexOf('/')),
  );
  const ofRanges = valid.filter(({ cidr }) => !isHost(cidr));
  return connections.filter(
    ({ address, port }) =>
      !includesTcp(ofHosts.get(address) ?? [], port) &&
      !ofRanges.some((rule) => includesTcp([rule], port) && covers(rule.cidr, address)),
  );
}

function covers(cidr: string, address: string): boolean {
  if (familyOf(cidr) !== familyOf(address)) return false;
  const { first, last } = bounds(cidr);
  const value = addressValue(address);
  return first <= value && value <= last;
}
