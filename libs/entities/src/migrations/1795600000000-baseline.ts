import type { MigrationInterface, QueryRunner } from 'typeorm';
import { ACCESS_REQUESTS } from './baseline/access-requests';
import { AGENTS } from './baseline/agents';
import { AUDIT } from './baseline/audit';
import { BILLING } from './baseline/billing';
import { DEPLOYMENT } from './baseline/deployment';
import { LEDGER } from './baseline/ledger';
import { MONTHLY } from './baseline/monthly';
import { NOTICES } from './baseline/notices';
import { PEOPLE } from './baseline/people';
import { RESOURCES } from './baseline/resources';
import { SESSIONS } from './baseline/sessions';
import { SSO } from './baseline/sso';
import { TRUSTS } from './baseline/trusts';
import { WEBHOOKS } from './baseline/webhooks';
import { WORKERS } from './baseline/workers';

/**
 * The schema of the first release, in the order of its foreign keys. Later releases add migrations and change nothing here.
 * A comment at each table says what it holds and when its rows go; what stays goes with its organization.
 */
const AREAS = [
  DEPLOYMENT,
  PEOPLE,
  RESOURCES,
  SESSIONS,
  ACCESS_REQUESTS,
  MONTHLY,
  LEDGER,
  AUDIT,
  BILLING,
  AGENTS,
  TRUSTS,
  SSO,
  WEBHOOKS,
  NOTICES,
  WORKERS,
];

export class Baseline1795600000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const area of AREAS) await runner.query(area);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('There is nothing before the baseline: drop the database instead.'));
  }
}
