import { Injectable } from '@nestjs/common';
import { connectionProblem } from '#config';
import { ForbiddenHost, PinnedConnection, readTenantUrl, TenantHosts, tenantNetworks } from '#drivers';
import { ApiSettings } from '../api.settings';

const TIMEOUT_MS = 5000;
const MAX_BYTES = 65_536;
const MAX_KEYS = 100;
const DISCOVERY = '/.well-known/openid-configuration';

/** A public key as the issuer publishes it. Its members are not checked. */
export type PublishedKey = Readonly<Record<string, unknown>>;

/** The issuer's keys could not be read. The message is shown to administrators. */
export class UnreadableKeys extends Error {
  override readonly name = 'UnreadableKeys';
}

/** Reads an issuer's keys: its discovery document, then the key set that this names. Follows no redirect. */
@Injectable()
export class IssuerDocuments {
  private readonly hosts: TenantHosts;

  constructor(settings: ApiSettings) {
    this.hosts = new TenantHosts(
      tenantNetworks({ TENANT_URL_NETWORKS: settings.TENANT_URL_NETWORKS.join(',') }),
    );
  }

  /** @throws UnreadableKeys within 5 seconds */
  async keysOf(issuer: string): Promise<readonly PublishedKey[]> {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const document = await this.read(`${issuer.replace(/\/$/, '')}${DISCOVERY}`, signal);
    if (document['issuer'] !== issuer)
      throw new UnreadableKeys('its discovery document names another issuer');
    const address = document['jwks_uri'];
    if (typeof address !== 'string') throw new UnreadableKeys('its discovery document names no key set');
    if (issuer.startsWith('https:') && !address.startsWith('https:'))
      throw new UnreadableKeys('its key set is not served over https');
    const { keys } = await this.read(address, signal);
    if (!Array.isArray(keys) || keys.length > MAX_KEYS)
      throw new UnreadableKeys(`its key set is not a list of at most ${MAX_KEYS} keys`);
    return keys.filter(isObject);
  }

  private async read(address: string, signal: AbortSignal): Promise<PublishedKey> {
    const url = readTenantUrl(address);
    if (!url) throw new UnreadableKeys('it names an address that is not allowed');
    const { status, text } = await this.responseOf(url, signal);
    if (status !== 200) throw new UnreadableKeys(`it answered ${status} instead of 200`);
    const body = parsed(text);
    if (!isObject(body)) throw new UnreadableKeys('it did not answer with a JSON object');
    return body;
  }

  private async responseOf(
    url: NonNullable<ReturnType<typeof readTenantUrl>>,
    signal: AbortSignal,
  ): Promise<{ status: number; text: string }> {
    let connection: PinnedConnection | undefined;
    try {
      connection = await PinnedConnection.open(url, this.hosts, signal, MAX_BYTES);
      return await connection.request({ method: 'GET', path: '', headers: { Accept: 'application/json' } });
    } catch (error) {
      if (error instanceof ForbiddenHost)
        throw new UnreadableKeys('its address is one that this deployment does not reach', { cause: error });
      const noAnswer = 'it did not answer, or not within the limits of 5 seconds and 64 kB';
      throw new UnreadableKeys(connectionProblem(error) ?? noAnswer, { cause: error });
    } finally {
      connection?.close();
    }
  }
}

const isObject = (value: unknown): value is PublishedKey =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
