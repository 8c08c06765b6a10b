import type { ApiClient, Answer } from '../../harness/product/api-client';

const ACCOUNT = '123456789012';

/** The simulated role does not trust the organization: what is recorded is a refusal. */
export const REFUSED = 'POST /credentials/{id}/accounts/{account}/verify';

/** Does every operation on the accounts of a credential. @param did notes an operation with its answer */
export async function throughCloudAccounts(
  admin: ApiClient,
  fresh: () => Promise<unknown>,
  did: (operation: string, answer: Promise<Answer>) => Promise<unknown>,
): Promise<void> {
  const credentialData = {
    roleArn: `arn:aws:iam::${ACCOUNT}:role/simulated`,
    listingRoleArn: `arn:aws:iam::${ACCOUNT}:role/all`,
  };
  const role = { name: 'Role', provider: 'AWS', credentialType: 'ASSUME_ROLE', credentialData };
  const { id } = await admin.created('/credentials', role);
  const accounts = `/credentials/${id}/accounts`;
  await fresh();
  await did('POST /credentials/{id}/accounts/refresh', admin.post(`${accounts}/refresh`));
  await did(
    'PATCH /credentials/{id}/accounts/{account}',
    admin.patch(`${accounts}/${ACCOUNT}`, { label: 'Payments' }),
  );
  await did(REFUSED, admin.post(`${accounts}/${ACCOUNT}/verify`));
}
