import { CloudError } from '../cloud-error';

export const badRequest = (code: string, message: string): CloudError => new CloudError(400, code, message);

export const invalidContent = (message: string): CloudError =>
  badRequest('InvalidRequestContent', `The request content was invalid: ${message}`);

export const groupNotFound = (resourceGroup: string, name: string): CloudError =>
  new CloudError(
    404,
    'ResourceNotFound',
    `The Resource 'Microsoft.Network/networkSecurityGroups/${name}' under resource group '${resourceGroup}' was not found.`,
  );

export const ruleLimitReached = (limit: number): CloudError =>
  badRequest(
    'SecurityRuleCountLimitReached',
    `A security group cannot have more than ${limit} security rules.`,
  );

export const tooManyRequests = (): CloudError =>
  new CloudError(429, 'TooManyRequests', 'The request is being throttled.', {}, { 'retry-after': '1' });

export const tokenRefused = (): CloudError =>
  new CloudError(401, 'InvalidAuthenticationToken', 'The access token is invalid.');

export const scopeLocked = (scope: string): CloudError =>
  new CloudError(409, 'ScopeLocked', `The scope '${scope}' is locked. Please remove the lock and try again.`);

export const internalError = (): CloudError =>
  new CloudError(500, 'InternalServerError', 'An error occurred.');

/** Another change of the same group is in progress. */
export const anotherOperation = (): CloudError => {
  const message = 'Operation on the network security group is in progress. Please retry later.';
  const details = [{ code: 'RetryableErrorDueToAnotherOperation', message }];
  return new CloudError(429, 'RetryableError', 'A retryable error occurred.', { details });
};

export const unauthorized = (clientId: string, action: string, scope: string): CloudError =>
  new CloudError(
    403,
    'AuthorizationFailed',
    `The client '${clientId}' with object id '${clientId}' does not have authorization to perform action ` +
      `'${action}' over scope '${scope}' or the scope is invalid.`,
  );
