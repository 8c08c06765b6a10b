export interface OpenRule {
  readonly provider: string;
  readonly target: string;
  readonly address: string;
  readonly protocol: string;
  readonly fromPort: number;
  readonly toPort: number;
  readonly ours: boolean;
  readonly providerRuleId: string;
}

export interface TimelineEntry extends OpenRule {
  readonly event: 'opened' | 'closed';
  /** microseconds */
  readonly at: number;
}

export interface CloudCall {
  readonly at: number;
  readonly operation: string;
  readonly target: string;
  /** null while the call is in progress */
  readonly outcome: string | null;
  readonly items: number;
}

export interface Fault {
  /** AWS when left out */
  readonly provider?: string;
  readonly kind: string;
  readonly target?: string;
  readonly operation?: string;
  readonly count?: number;
  readonly seconds?: number;
  readonly delayMs?: number;
  /** only calls signed with this key id */
  readonly caller?: string;
  /** only writes that name this address */
  readonly address?: string;
}

/** Controls the simulated cloud: its ground truth, faults, and edits by other programs. */
export class SimulatorClient {
  constructor(readonly url: string) {}

  rules(target?: string, provider = 'AWS'): Promise<OpenRule[]> {
    return this.get(`/_rules?provider=${provider}${target ? `&target=${target}` : ''}`);
  }

  /** The rules of every cloud. */
  everything(): Promise<OpenRule[]> {
    return this.get('/_rules');
  }

  /** @param since microseconds since 1970, exclusive */
  timeline(since = 0): Promise<TimelineEntry[]> {
    return this.get(`/_timeline?since=${since}`);
  }

  /** @param since microseconds since 1970, exclusive */
  calls(since = 0): Promise<CloudCall[]> {
    return this.get(`/_calls?since=${since}`);
  }

  async fault(fault: Fault): Promise<void> {
    await this.send('POST', '/_faults', { provider: 'AWS', ...fault });
  }

  /** Makes a simulated account trust an issuer's tokens. Without a subject: a trust that forgot the condition. */
  async trust(trust: {
    readonly provider: string;
    readonly issuer: string;
    readonly subject?: string;
    /** the issuer's keys as a file: the cloud does not fetch them. GCP only */
    readonly jwks?: unknown;
  }): Promise<void> {
    await this.send('PUT', '/_trusts', trust);
  }

  /** Makes an account besides the first one of a cloud, and moves targets into it. */
  async account(account: {
    readonly provider: string;
    readonly account: string;
    readonly name?: string;
    readonly roles?: readonly string[];
    readonly isOpen?: boolean;
    readonly late?: number;
    readonly targets?: readonly string[];
  }): Promise<void> {
    await this.send('PUT', '/_accounts', account);
  }

  async clearFaults(): Promise<void> {
    await this.send('DELETE', '/_faults');
  }

  async addUnmanaged(
    rule: Pick<OpenRule, 'target' | 'address' | 'protocol' | 'fromPort' | 'toPort'> & {
      readonly description?: string;
    },
  ): Promise<void> {
    await this.send('POST', '/_rules', { provider: 'AWS', ...rule });
  }

  /** Another program changes rules in place: they keep their ids. */
  async changeByHand(
    target: string,
    address: string,
    change: Partial<Pick<OpenRule, 'address' | 'protocol' | 'fromPort' | 'toPort'>> & {
      /** an empty one removes our mark */
      readonly description?: string;
      /** as the cloud's API names them */
      readonly fields?: object;
    },
    provider = 'AWS',
  ): Promise<void> {
    const query = `provider=${provider}&target=${target}&address=${encodeURIComponent(address)}`;
    await this.send('PATCH', `/_rules?${query}`, change);
  }

  /** The objects of a cloud in its own form. */
  objects(provider: string): Promise<unknown> {
    return this.get(`/_objects?provider=${provider}`);
  }

  /** Another program changes objects, in that form: those that are left out stay. */
  async changeObjects(provider: string, objects: unknown): Promise<void> {
    await this.send('PUT', '/_objects', { provider, objects });
  }

  /** Revokes every access token and session that the cloud has issued so far. */
  async revokeTokens(provider: string): Promise<void> {
    await this.send('POST', '/_tokens/revoke', { provider });
  }

  async removeByHand(target: string, address: string): Promise<void> {
    await this.send('DELETE', `/_rules?provider=AWS&target=${target}&address=${encodeURIComponent(address)}`);
  }

  private async get<T>(path: string): Promise<T> {
    return (await this.send('GET', path)) as T;
  }

  private async send(method: string, path: string, body?: object): Promise<unknown> {
    const response = await fetch(this.url + path, {
      method,
      ...(body ? { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } } : {}),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text === '' ? null : (JSON.parse(text) as unknown);
  }
}
