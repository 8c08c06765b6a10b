import type { FaultOrder } from '../../../apps/simulator/src/faults/fault-script';
import type { CallEntry } from '../../../apps/simulator/src/ground-truth/call-log';
import type { LedgerRule, TimelineEntry as Entry } from '../../../apps/simulator/src/ground-truth/ledger';

/** Tests read the ports of rules that have some. */
export type OpenRule = Omit<LedgerRule, 'provider' | 'fromPort' | 'toPort'> & {
  readonly provider: string;
  readonly fromPort: number;
  readonly toPort: number;
};
export type TimelineEntry = OpenRule & Pick<Entry, 'at' | 'event'>;
export type CloudCall = Omit<CallEntry, 'provider'>;
/** Of AWS unless it says otherwise. */
export type Fault = Omit<FaultOrder, 'provider' | 'kind'> & {
  readonly provider?: string;
  readonly kind: string;
};

type Traffic = Pick<OpenRule, 'address' | 'protocol' | 'fromPort' | 'toPort'>;

/** An account that trusts an issuer's tokens. */
interface Trust {
  readonly provider: string;
  readonly issuer: string;
  /** without: a trust that forgot the condition */
  readonly subject?: string;
  /** the issuer's keys as a file: the cloud does not fetch them. GCP only */
  readonly jwks?: unknown;
}

/** An account besides the first one of a cloud, and targets that are moved into it. */
interface Account {
  readonly provider: string;
  readonly account: string;
  readonly name?: string;
  readonly roles?: readonly string[];
  readonly isOpen?: boolean;
  readonly late?: number;
  readonly targets?: readonly string[];
}

interface ChangeByHand extends Partial<Traffic> {
  /** an empty one removes our mark */
  readonly description?: string;
  /** as the cloud's API names them */
  readonly fields?: object;
}

const query = (given: Readonly<Record<string, string>>): string => new URLSearchParams(given).toString();

/** Controls the simulated cloud: its ground truth, faults, and edits by other programs. */
export class SimulatorClient {
  constructor(readonly url: string) {}

  rules = (target = '', provider = 'AWS'): Promise<OpenRule[]> =>
    this.send('GET', `/_rules?${query({ provider, ...(target && { target }) })}`);
  /** The rules of every cloud. */
  everything = (): Promise<OpenRule[]> => this.send('GET', '/_rules');
  /** @param since microseconds since 1970, exclusive */
  timeline = (since = 0): Promise<TimelineEntry[]> => this.send('GET', `/_timeline?since=${since}`);
  /** @param since microseconds since 1970, exclusive */
  calls = (since = 0): Promise<CloudCall[]> => this.send('GET', `/_calls?since=${since}`);
  fault = (fault: Fault): Promise<void> => this.send('POST', '/_faults', { provider: 'AWS', ...fault });
  clearFaults = (): Promise<void> => this.send('DELETE', '/_faults');
  trust = (trust: Trust): Promise<void> => this.send('PUT', '/_trusts', trust);
  account = (account: Account): Promise<void> => this.send('PUT', '/_accounts', account);
  /** Revokes every access token and session that the cloud has issued so far. */
  revokeTokens = (provider: string): Promise<void> => this.send('POST', '/_tokens/revoke', { provider });

  addUnmanaged = (
    rule: Traffic & { readonly target: string; readonly description?: string },
  ): Promise<void> => this.send('POST', '/_rules', { provider: 'AWS', ...rule });
  removeByHand = (target: string, address: string): Promise<void> =>
    this.send('DELETE', `/_rules?${query({ provider: 'AWS', target, address })}`);
  /** Another program changes rules in place: they keep their ids. */
  changeByHand = (target: string, address: string, change: ChangeByHand, provider = 'AWS'): Promise<void> =>
    this.send('PATCH', `/_rules?${query({ provider, target, address })}`, change);
  /** The objects of a cloud in its own form. */
  objects = (provider: string): Promise<unknown> => this.send('GET', `/_objects?provider=${provider}`);
  /** Another program changes objects, in that form: those that are left out stay. */
  changeObjects = (provider: string, objects: unknown): Promise<void> =>
    this.send('PUT', '/_objects', { provider, objects });

  private async send<T>(method: string, path: string, body?: object): Promise<T> {
    const response = await fetch(this.url + path, {
      method,
      ...(body ? { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } } : {}),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return (text === '' ? null : JSON.parse(text)) as T;
  }
}
