import { CallFailure, isMissing } from '../call-failure';
import { NO_CONFIG, readConfig, type FirewallConfig } from './firewall-config';
import type { SentRule } from './guard';
import type { VercelApi } from './vercel-api';
import { unexpectedResponse } from './vercel-errors';

const CONFIG = '/v1/security/firewall/config';

/** One change of a configuration, effective immediately. */
export type FirewallChange =
  | { readonly action: 'rules.insert'; readonly id: null; readonly value: SentRule }
  | { readonly action: 'rules.update'; readonly id: string; readonly value: SentRule }
  | { readonly action: 'rules.remove'; readonly id: string; readonly value: null };

/** The API calls on the firewall of one project. Each throws CallFailure, also for a malformed response. */
export class ProjectFirewall {
  constructor(
    readonly api: VercelApi,
    private readonly projectId: string,
  ) {}

  /** Checks that the project exists and the token may read it. */
  async describe(): Promise<void> {
    const operation = 'the read of the project';
    const path = `/v9/projects/${this.projectId}`;
    const { id } = await this.api.request({ operation, method: 'GET', path });
    if (id !== this.projectId) throw unexpectedResponse(operation);
  }

  /** The active configuration. */
  async read(): Promise<FirewallConfig> {
    const operation = 'the read of the firewall configuration';
    let body: Readonly<Record<string, unknown>>;
    try {
      body = await this.api.request({
        operation,
        method: 'GET',
        path: `${CONFIG}/active`,
        query: this.query,
      });
    } catch (error) {
      if (!isConfigNotFound(error)) throw error;
      // Vercel returns the same error for an unknown project: check that it exists.
      await this.describe();
      return NO_CONFIG;
    }
    const config = readConfig(body);
    if (config) return config;
    throw unexpectedResponse(operation);
  }

  /** Changes the active configuration. Success does not prove that the change is in effect: read afterwards. */
  async change(change: FirewallChange): Promise<void> {
    const operation = 'the change of the firewall configuration';
    try {
      await this.api.request({ operation, method: 'PATCH', path: CONFIG, query: this.query, body: change });
    } catch (error) {
      throw await this.classify(error, change);
    }
  }

  private get query(): Readonly<Record<string, string>> {
    return { projectId: this.projectId };
  }

  /** Distinguishes a missing project from a rule that was deleted since it was read, which is a conflict. */
  private async classify(error: unknown, { action }: FirewallChange): Promise<unknown> {
    if (!isMissing(error) || action === 'rules.insert') return error;
    try {
      await this.describe();
      return new CallFailure('conflict', error.message, error.code, true);
    } catch {
      return error;
    }
  }
}

/** The firewall was never configured. Identified by Vercel's message, there is no error code. */
const isConfigNotFound = (error: unknown): boolean =>
  isMissing(error) && /config not found/i.test(error.message);
