import type { OpenAPIObject } from '@nestjs/swagger';
import { METHODS } from './document.types';

/** The tags of the document with their descriptions, as a newcomer meets them. */
const TAGS: Readonly<Record<string, string>> = {
  'Accounts and tokens': 'Registration, sign-in, token refresh and passwords.',
  Credentials: 'The service’s credentials for clouds. Secrets are write-only.',
  Resources:
    'Targets whose access rules are managed. API keys can read them; administrators can change them.',
  Roles: 'A role gives users access to resources and limits the duration of their sessions.',
  Users: 'The users of the organization, and its service users for programs.',
  Sessions:
    'Temporary access of an address to cloud resources. Rules are applied and removed in the background.',
  'Access requests':
    'Sessions that others approve before they start, and reviews of those that were started in an emergency.',
  Reports: 'Who had access when, derived from observations.',
  'Static IP rules': 'Addresses and ranges that are allowed until the rule is deleted.',
  'API keys': 'Keys for pipelines. A key never exceeds the permissions of its user.',
  'Keyless CI':
    'Trusts let CI jobs act as a service user: they exchange their ID token for an access token. No key is stored.',
  MFA: 'The second factor: authenticator codes and recovery codes. Bearer tokens only.',
  Organization: 'The organization’s name, security settings and billing details.',
  'Company sign-in': 'Identity providers (OpenID Connect) that the organization’s people sign in with.',
  Lockdown: 'Ends all sessions of the organization or of a user, and refuses others until it is lifted.',
  Billing: 'Plans, the subscription and payments.',
  'Audit logs': 'Who did what and when. Records cannot be changed.',
  Webhooks: 'Where audit records are sent to as they are written: a program, Slack or Teams.',
  'Resource health': 'The history of verification and reconciliation of resources.',
  Attention: 'What is not as it should be, in one list.',
  Reviews: 'Rights that administrators confirm again from time to time.',
  Agents: 'The API of the agents on hosts without a cloud API.',
  Downloads:
    'The command line; files for hosts: the agent and its installer; checksums. Needs no credential.',
  Utility: 'Health and release of the service, and the caller’s address. Needs no credential.',
  Issuer:
    'What clouds fetch of the organization’s issuer, to check tokens that stand for a stored secret. Needs no credential.',
  Platform: 'For operators of the service: organizations and their suspension, and overdue rules.',
};

/** Adds the tags in use, in the order above. Tags without a description come last; a test reports them. */
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
