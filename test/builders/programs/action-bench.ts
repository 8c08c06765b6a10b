import { randomUUID } from 'node:crypto';
import { ActionJob } from '../../harness/product/action-job';
import { AddressProxy } from '../../harness/network/address-proxy';
import type { Session } from '../../harness/product/api-client';
import { Drawbridge, type DrawbridgeOptions } from '../../harness/product/drawbridge';
import { IdTokenEndpoint } from '../../harness/issuers/id-token-endpoint';
import { OidcIssuer } from '../../harness/issuers/oidc-issuer';
import { until } from '../../harness/until';
import { githubTrust, jobClaims, type OidcTrust } from '../sso/oidc';
import { group, organization, type Organization, type ResourcePlan } from '../accounts/organization';

export const JOB_ADDRESS = '203.0.113.40';

/** A running product, an organization with a trust, an issuer of ID tokens, and jobs behind one address. */
export class ActionBench {
  private readonly jobs: ActionJob[] = [];

  private constructor(
    readonly node: string,
    readonly drawbridge: Drawbridge,
    readonly org: Organization,
    readonly trust: OidcTrust,
    readonly proxy: AddressProxy,
    readonly endpoint: IdTokenEndpoint,
    readonly issuer: OidcIssuer,
  ) {}

  /** @param node the program of Node.js 24 */
  static async start(
    node: string,
    resources: readonly ResourcePlan[] = [{ group: group(0), config: { port: 22 } }],
    options: DrawbridgeOptions = {},
  ): Promise<ActionBench> {
    const issuer = await OidcIssuer.start();
    const drawbridge = await Drawbridge.start({
      limitedAsShipped: true,
      ...options,
      api: { OIDC_ISSUERS: issuer.url, ...options.api },
    });
    const org = await organization(drawbridge, resources);
    const trust = await githubTrust(org, issuer);
    const proxy = await AddressProxy.start(drawbridge.apiServer.port, JOB_ADDRESS);
    const endpoint = await IdTokenEndpoint.start((audience) => issuer.sign(jobClaims(issuer, audience)));
    return new ActionBench(node, drawbridge, org, trust, proxy, endpoint, issuer);
  }

  /** For the tests of a `describe`: each of them ends without jobs and faults. */
  static own(node: string | null, resources?: readonly ResourcePlan[]): ActionBench {
    const bench = Object.create(ActionBench.prototype) as ActionBench;
    beforeAll(async () => void Object.assign(bench, await ActionBench.start(node!, resources)));
    afterEach(async () => {
      await bench.drawbridge.cloud.clearFaults();
      await bench.endJobs();
    });
    afterAll(() => bench.stop());
    return bench;
  }

  /** A job with the action's inputs; `url` and `trust` are given unless they are overridden. */
  job(inputs: Readonly<Record<string, string>> = {}, mayRequestTokens = true): ActionJob {
    const given = { url: this.proxy.url, trust: this.trust.audience, ...inputs };
    const job = new ActionJob(this.node, given, {
      variables: mayRequestTokens ? this.endpoint.variables : {},
    });
    this.jobs.push(job);
    return job;
  }

  /** An API key of the trust's service user. */
  apiKey(): Promise<string> {
    const { serviceUserId: userId } = this.trust;
    return this.org.plainKey(['sessions:write', 'sessions:read'], { name: randomUUID(), userId });
  }

  /** The addresses with a rule on the first security group. */
  async allowed(): Promise<string[]> {
    return (await this.drawbridge.cloud.rules(group(0))).map(({ address }) => address);
  }

  /** The organization's live sessions. */
  live(): Promise<Session[]> {
    const { admin } = this.org;
    return admin.read<Session[]>('/sessions/admin?active=true&size=100');
  }

  /** Asks the database: requests are limited. */
  sessionStarts(): Promise<unknown> {
    const isThere = async (): Promise<boolean> =>
      (await this.drawbridge.query(`SELECT FROM sessions WHERE status IN ('PENDING', 'ACTIVE')`)).length > 0;
    return until('a session is started', isThere);
  }

  /** Ends what jobs have left: processes, sessions and rules. */
  async endJobs(): Promise<void> {
    for (const job of this.jobs.splice(0)) job.remove();
    const { admin } = this.org;
    for (const { id } of await this.live()) await admin.posted(`/sessions/admin/${id}/stop`);
    await until('nobody is allowed', async () => (await this.drawbridge.cloud.rules()).length === 0);
  }

  async stop(): Promise<void> {
    await this.endJobs();
    await this.endpoint.stop();
    await this.proxy.stop();
    await this.drawbridge.stop();
    await this.issuer.stop();
  }
}
