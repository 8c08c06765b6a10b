import { NO_CONFIG, readConfig, type FirewallConfig } from './firewall-config';
import type { SentRule } from './guard';
import type { VercelApi } from './vercel-api';
import { oddAnswer, VercelFailure } from './vercel-errors';

const CONFIG = '/v1/security/firewall/config';

/** One change of a configuration; it is in force at once. */
export type FirewallChange =
  | { readonly action: 'rules.insert'; readonly id: null; readonly value: SentRule }
  | { readonly action: 'rules.update'; readonly id: string; readonly value: SentRule }
  | { readonly action: 'rules.remove'; readonly id: string; readonly value: null };

/** The calls Drawbridge makes on the firewall of one project. Each throws VercelFailure, also for an odd answer. */
export class ProjectFirewall {
  constructor(
    readonly api: VercelApi,
    private readonly projectId: string,
  ) {}

  /** Succeeds when the project exists and the token may see it. */
  async describe(): Promise<void> {
    const what = 'the read of the project';
    const path = `/v9/projects/${this.projectId}`;
    const { id } = await this.api.ask({ what, method: 'GET', path });
    if (id !== this.projectId) throw oddAnswer(what, 200);
  }

  /** The active configuration. */
  async read(): Promise<FirewallConfig> {
    const what = 'the read of the firewall configuration';
    let body: Record<string, unknown>;
    try {
      body = await this.api.ask({ what, method: 'GET', path: `${CONFIG}/active`, query: this.query });
    } catch (error) {
      if (!isWithoutConfig(error)) throw error;
      // Vercel says the same of a project that it does not have.
      await this.describe();
      return NO_CONFIG;
    }
    const config = readConfig(body);
    if (config) return config;
    throw oddAnswer(what, 200);
  }

  /** Changes the active configuration. That Vercel took it is not that it stands: read afterwards. */
  async change(change: FirewallChange): Promise<void> {
    const what = 'the change of the firewall configuration';
    try {
      await this.api.ask({ what, method: 'PATCH', path: CONFIG, query: this.query, body: change });
    } catch (error) {
      throw await this.explained(error, change);
    }
  }

  private get query(): Readonly<Record<string, string>> {
    return { projectId: this.projectId };
  }

  /** What was not found is the project, or a rule that somebody deleted since it was read. */
  private async explained(error: unknown, { action }: FirewallChange): Promise<unknown> {
    if (!(error instanceof VercelFailure) || error.status !== 404 || action === 'rules.insert') return error;
    try {
      await this.describe();
      return new VercelFailure('conflict', error.message, error.status, true);
    } catch {
      return error;
    }
  }
}

/** Nobody has configured the firewall yet: Vercel's words for it, there is no code. */
const isWithoutConfig = (error: unknown): boolean =>
  error instanceof VercelFailure && error.status === 404 && /config not found/i.test(error.message);
