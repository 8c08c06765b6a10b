import { ValidateBy } from 'class-validator';
import { canonicalCidr } from '#rules';

/** A private network that tenants' URLs may reach, on one port or on all ports. */
export interface TenantNetwork {
  readonly cidr: string;
  /** null: every port */
  readonly port: number | null;
}

const TENANT_NETWORKS_MESSAGE =
  'TENANT_URL_NETWORKS must be a comma-separated list of addresses, CIDR ranges and address:port pairs';

const PAIR = /^(?:\[([\da-f:.]{2,45})\]|([\d.]{7,15})):(\d{1,5})$/i;
const LAST_PORT = 65_535;

function readNetwork(text: string): TenantNetwork | null {
  const [, v6, v4, port] = PAIR.exec(text) ?? [];
  const cidr = canonicalCidr(v6 ?? v4 ?? text)?.cidr;
  if (cidr === undefined || Number(port ?? 1) > LAST_PORT || port === '0') return null;
  return { cidr, port: port === undefined ? null : Number(port) };
}

/**
 * Parses `TENANT_URL_NETWORKS`: private networks that tenants' URLs may reach, separated by commas. A pair like
 * `127.0.0.1:9180` or `[::1]:9180` allows that port only.
 * @throws Error when an element is not a network
 */
export function tenantNetworks({ TENANT_URL_NETWORKS: text = '' }: NodeJS.ProcessEnv): TenantNetwork[] {
  const given = text.split(',').map((network) => network.trim());
  return given
    .filter((network) => network !== '')
    .map((network) => {
      const read = readNetwork(network);
      if (read) return read;
      throw new Error(TENANT_NETWORKS_MESSAGE);
    });
}

/** Property decorator: validates the list of `TENANT_URL_NETWORKS`. */
export const AreTenantNetworks = (): PropertyDecorator =>
  ValidateBy(
    {
      name: 'areTenantNetworks',
      validator: {
        validate: (list: unknown) =>
          Array.isArray(list) && list.every((item) => typeof item === 'string' && readNetwork(item) !== null),
      },
    },
    { message: TENANT_NETWORKS_MESSAGE },
  );
