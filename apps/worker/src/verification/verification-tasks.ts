import type { Logger } from 'pino';
import { VerificationStore, type Database } from '#entities';
import { RepeatedTask } from '../repeated-task';
import { CredentialChecks } from './credential-checks';
import type { OpenClouds } from './open-clouds';
import { ResourceChecks } from './resource-checks';

const EVERY_MS = 1000;

export interface VerificationParts {
  readonly database: Database;
  readonly clouds: OpenClouds;
  /** whose marks are ours */
  readonly deployment: string;
  readonly log: Logger;
}

/** What asks the clouds once a second whether what is due there still works. */
export function verificationTasks({ database, clouds, deployment, log }: VerificationParts): RepeatedTask[] {
  const store = new VerificationStore();
  const credentials = new CredentialChecks(database, store, clouds, log);
  const resources = new ResourceChecks(database, store, clouds, deployment, log);
  return [
    new RepeatedTask('check credentials', EVERY_MS, () => credentials.run(), log),
    new RepeatedTask('verify resources', EVERY_MS, () => resources.run(), log),
  ];
}
