/** An error with Azure's code and message. */
export class AzureError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly details: readonly { readonly code: string; readonly message: string }[] = [],
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
    this.name = 'AzureError';
  }
}

export const invalidContent = (message: string): AzureError =>
  new AzureError(400, 'InvalidRequestContent', `The request content was invalid: ${message}`);

export const groupNotFound = (resourceGroup: string, name: string): AzureError =>
  new AzureError(
    404,
    'ResourceNotFound',
    `The Resource 'Microsoft.Network/networkSecurityGroups/${name}' under resource group '${resourceGroup}' was not found.`,
  );

export const ruleLimitReached = (limit: number): AzureError =>
  new AzureError(
    400,
    'SecurityRuleCountLimitReached',
    `A security group cannot have more than ${limit} security rules.`,
  );

export const tooManyRequests = (seconds = 1): AzureError =>
  new AzureError(429, 'TooManyRequests', 'The request is being throttled.', [], {
    'retry-after': String(seconds),
  });

export const scopeLocked = (scope: string): AzureError =>
  new AzureError(409, 'ScopeLocked', `The scope '${scope}' is locked. Please remove the lock and try again.`);

export const internalError = (): AzureError =>
  new AzureError(500, 'InternalServerError', 'An error occurred.');

/** Another change of the same group is in progress. */
export const anotherOperation = (): AzureError =>
  new AzureError(429, 'RetryableError', 'A retryable error occurred.', [
    {
      code: 'RetryableErrorDueToAnotherOperation',
      message: 'Operation on the network security group is in progress. Please retry later.',
    },
  ]);

export const unauthorized = (clientId: string, action: string, scope: string): AzureError =>
  new AzureError(
    403,
    'AuthorizationFailed',
    `The client '${clientId}' with object id '${clientId}' does not have authorization to perform action ` +
      `'${action}' over scope '${scope}' or the scope is invalid.`,
  );
