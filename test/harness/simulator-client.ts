export interface OpenRule {
  readonly provider: string;
  readonly target: string;
  readonly address: string;
  readonly protocol: string;
  readonly fromPort: number;
  readonly toPort: number;
  readonly ours: boolean;
}

export interface TimelineEntry extends OpenRule {
  readonly event: 'opened' | 'closed';
  /** microseconds */
  readonly at: number;
  readonly providerRuleId: string;
}

export interface CloudCall {
  readonly at: number;
  readonly operation: string;
  readonly target: string;
  readonly outcome: string;
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
}

/** The ground truth: what the simulated cloud really lets in, and the hands of strangers in it. */
export class SimulatorClient {
  constructor(readonly url: string) {}

  rules(target?: string): Promise<OpenRule[]> {
    return this.get(`/_rules?provider=AWS${target ? `&target=${target}` : ''}`);
  }

  timeline(): Promise<TimelineEntry[]> {
    return this.get('/_timeline');
  }

  calls(): Promise<CloudCall[]> {
    return this.get('/_calls');
  }

  async fault(fault: Fault): Promise<void> {
    await this.send('POST', '/_faults', { provider: 'AWS', ...fault });
  }

  async clearFaults(): Promise<void> {
    await this.send('DELETE', '/_faults');
  }

  async addForeign(
    rule: Pick<OpenRule, 'target' | 'address' | 'protocol' | 'fromPort' | 'toPort'>,
  ): Promise<void> {
    await this.send('POST', '/_rules', { provider: 'AWS', ...rule });
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
