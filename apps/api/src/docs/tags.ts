import type { OpenAPIObject } from '@nestjs/swagger';
import { METHODS } from './document.types';

/** The chapters of the document, in the order they are read. */
const TAGS: Readonly<Record<string, string>> = {
  'Accounts and tokens': 'Registering, signing in, staying signed in, and passwords.',
  MFA: 'The second factor: one-time codes of an app, and recovery codes. Bearer tokens only.',
  Sessions: 'An address let in on cloud resources for some hours. Rules appear and vanish in the background.',
  Resources: 'Targets whose access rules are changed. Reading is open to keys, changing to administrators.',
  'Resource health': 'What checks and repairs of resources found over time.',
  Credentials: 'What the service signs in to clouds with. Secrets go in and never come out.',
  Roles: 'Who may open what, and for how long: a role joins users and resources.',
  Users: 'The people of the organization, and its service users for programs.',
  'Static IP rules': 'Addresses and ranges that stay open until they are deleted.',
  Organization: 'The organization itself: its name, its security settings, its billing details.',
  Billing: 'Plans, the subscription and payments.',
  'Audit logs': 'Who did what and when. Nothing in it can be changed.',
  Reports: 'Who was let in when, derived from what was observed.',
  'API keys': 'Keys for pipelines. A key never exceeds the user it belongs to.',
  Platform: 'For those who run the service: organizations, and suspending them.',
  Agents: 'The channel of agents on hosts that no cloud API protects.',
  Utility: 'Whether the service is alive, and how it sees the caller. Needs no credential.',
};

/** Describes the tags in use, in the order above; one nobody described comes last, and a test names it. */
export function describeTags(document: OpenAPIObject): void {
  const used = new Set(
    Object.values(document.paths).flatMap((item) => METHODS.flatMap((method) => item[method]?.tags ?? [])),
  );
  const known = Object.keys(TAGS).filter((name) => used.delete(name));
  document.tags = [...known, ...used].map((name) => {
    const description = TAGS[name];
    return description === undefined ? { name } : { name, description };
  });
}
