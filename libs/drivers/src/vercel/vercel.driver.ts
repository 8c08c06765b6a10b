import { overrideWarnings, type ChangeResult, type TargetRead } from '#rules';
import { accountKey } from '../account-key';
import { CallFailure } from '../call-failure';
import { Deadline } from '../deadline';
import { DriverError } from '../driver-error';
import { ALL_TRAFFIC, allTrafficFrom, explainOpen } from '../open-target';
import type {
  CloudTarget,
  DriverCredential,
  DriverOptions,
  Inspection,
  CloudDriver,
  RuleChange,
  Verified,
} from '../provider-driver';
import { firstTypeOf } from '../provider-facts';
import { isRecord } from '../untrusted-json';
import { Batch } from './batch';
import { denialsOf } from './denials';
import type { FirewallConfig } from './firewall-config';
import { guardsOf, observedRules } from './guard';
import { bypassedAddresses } from './open-bypasses';
import { ProjectFirewall } from './project-firewall';
import { VercelApi } from './vercel-api';
import { readCredential, readGuardedPath } from './vercel-credentials';
import { unexpectedResponse } from './vercel-errors';
import { VERCEL_FACTS, type GuardedPath } from './vercel.facts';

const ENDPOINT = 'https://api.vercel.com';

/**
 * The driver for the firewalls of Vercel's projects.
 * @param environment contains `VERCEL_API_URL`
 */
export function createVercelDriver(
  environment: NodeJS.ProcessEnv,
  { callTimeoutMs = firstTypeOf(VERCEL_FACTS).traits.callTimeoutMs }: DriverOptions = {},
): CloudDriver {
  return new VercelDriver(environment, callTimeoutMs);
}

class VercelDriver implements CloudDriver {
  readonly kind = 'VERCEL';
  private readonly endpoint: string;

  constructor(
    environment: NodeJS.ProcessEnv,
    private readonly callTimeoutMs: number,
  ) {
    this.endpoint = (environment.VERCEL_API_URL || ENDPOINT).replace(/(?<!\/)\/+$/, '');
  }

  accountKey({ credential }: CloudTarget): string {
    return accountKey('VERCEL', readCredential(credential).teamId ?? '', credential);
  }

  async checkCredential(credential: DriverCredential): Promise<void> {
    const api = this.api(credential);
    const operation = 'the read of the token’s owner';
    const { user } = await api.request({ operation, method: 'GET', path: '/v2/user' });
    if (!isRecord(user)) throw unexpectedResponse(operation);
    if (api.teamId !== null) await requireTeamAccess(api, api.teamId);
  }

  async verify(target: CloudTarget): Promise<Verified> {
    const { firewall, path } = this.firewallOf(target);
    await firewall.describe();
    const config = await firewall.read();
    const open = openness(config, path, target);
    if (open !== null) throw new DriverError('invalid', open);
    const { doubtful } = denialsOf(config, path, guardsOf(config, path, target.deployment));
    return { warnings: overrideWarnings(doubtful) };
  }

  readRules(target: CloudTarget): Promise<TargetRead> {
    return this.inspect(target);
  }

  async inspect(target: CloudTarget): Promise<Inspection> {
    const { firewall, path } = this.firewallOf(target);
    const config = await firewall.read();
    const { blockOf } = denialsOf(config, path, guardsOf(config, path, target.deployment));
    return {
      rules: observedRules(config, path, target, blockOf),
      explainOpen: () => openness(config, path, target),
    };
  }

  async applyChanges(target: CloudTarget, changes: readonly RuleChange[]): Promise<ChangeResult[]> {
    if (changes.length === 0) return [];
    const { firewall, path } = this.firewallOf(target);
    const batch = new Batch(firewall, path, target, await firewall.read());
    return batch.run(changes);
  }

  private firewallOf(target: CloudTarget): {
    firewall: ProjectFirewall;
    path: ReturnType<typeof readGuardedPath>;
  } {
    const path = readGuardedPath(target);
    return { path, firewall: new ProjectFirewall(this.api(target.credential), path.projectId) };
  }

  private api(credential: DriverCredential): VercelApi {
    return new VercelApi(this.endpoint, readCredential(credential), new Deadline(this.callTimeoutMs));
  }
}

/** Why a guard restricts nothing, as a message; null: it keeps addresses out. */
function openness(config: FirewallConfig, path: GuardedPath, { deployment }: CloudTarget): string | null {
  if (!config.isEnabled) return 'The firewall of the project is switched off: it restricts no access';
  const bypassed = bypassedAddresses(config, path, deployment).map(allTrafficFrom);
  return explainOpen(path.projectId, ALL_TRAFFIC, bypassed);
}

/** @throws CallFailure `denied` when the token has no access to the team */
async function requireTeamAccess(api: VercelApi, teamId: string): Promise<void> {
  try {
    await api.request({ operation: 'the read of the team', method: 'GET', path: `/v2/teams/${teamId}` });
  } catch (error) {
    if (!(error instanceof CallFailure) || error.kind !== 'target-missing') throw error;
    throw new CallFailure('denied', error.message, error.code, true);
  }
}
