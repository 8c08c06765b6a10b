import { setTimeout as pause } from 'node:timers/promises';
import { cloudAccount, readAccounts, type CloudAccount } from '../cloud-accounts';
import { DriverError } from '../driver-error';
import type { DriverCredential } from '../provider-driver';
import { isRecord } from '../untrusted-json';
import { readCredential } from './aws-credentials';
import { unexpectedResponse } from './aws-errors';
import { AwsJson } from './aws-json';
import type { RoleSessions } from './role-sessions';
import type { SdkSettings } from './sdk-settings';
import { LIST_ACCOUNTS } from './session-policy';

/** Where the one endpoint of each partition is. */
const REGIONS: Readonly<Record<string, string>> = {
  'aws-cn': 'cn-northwest-1',
  'aws-us-gov': 'us-gov-west-1',
};
const REGION = 'us-east-1';
const ACCOUNT = /^\d{12}$/;
/** AWS returns no more. */
const PAGE_SIZE = 20;
/** Between pages: AWS allows some calls a second, of all programs together. */
const PAUSE_MS = 100;

/**
 * Lists the accounts of the organization as the role that a credential names for that.
 * @throws DriverError also when the role lacks the condition that protects it
 */
export async function listOrganization(
  credential: DriverCredential,
  roles: RoleSessions,
  settings: SdkSettings,
): Promise<CloudAccount[]> {
  const { listingRoleArn } = credential.data;
  if (!listingRoleArn) throw new DriverError('denied', 'The credential has no listingRoleArn');
  const role = readCredential({ ...credential, data: { ...credential.data, roleArn: listingRoleArn } });
  if (!('roleArn' in role)) throw new DriverError('denied', 'The credential has no role');
  const [, partition = 'aws'] = listingRoleArn.split(':');
  const region = REGIONS[partition] ?? REGION;
  const keys = await roles.keys(role, region, LIST_ACCOUNTS);
  await roles.requireCondition(role, region);
  const endpoint = settings.endpoint('AWS_ENDPOINT_URL_ORGANIZATIONS');
  const service = { name: 'organizations', region, partition, endpoint };
  const organizations = new AwsJson(service, keys, settings.callTimeoutMs);
  return keys.run(() =>
    readAccounts('AWS', ACCOUNT, async (token) => {
      if (token !== null) await pause(PAUSE_MS);
      const { body } = await organizations.call({
        operation: 'ListAccounts',
        method: 'POST',
        path: '/',
        headers: {
          'content-type': 'application/x-amz-json-1.1',
          'x-amz-target': 'AWSOrganizationsV20161128.ListAccounts',
        },
        body: { MaxResults: PAGE_SIZE, ...(token !== null && { NextToken: token }) },
      });
      const { Accounts: accounts, NextToken: next } = body;
      if (!Array.isArray(accounts) || !accounts.every(isRecord)) throw unexpectedResponse('ListAccounts');
      return {
        // AWS replaces Status by State
        accounts: accounts.map(({ Id, Name, State, Status }) => cloudAccount(Id, Name, State ?? Status)),
        next: typeof next === 'string' && next !== '' ? next : null,
      };
    }),
  );
}
