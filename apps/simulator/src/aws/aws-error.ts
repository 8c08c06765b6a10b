/** An error with AWS's code and message. */
export class AwsError extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly status = 400,
  ) {
    super(message);
    this.name = 'AwsError';
  }
}

export const invalidValue = (message: string): AwsError => new AwsError('InvalidParameterValue', message);

export const missingParameter = (name: string): AwsError =>
  new AwsError('MissingParameter', `The request must contain the parameter ${name}`);

export const ruleLimitExceeded = (): AwsError =>
  new AwsError(
    'RulesPerSecurityGroupLimitExceeded',
    'The maximum number of rules per security group has been reached.',
  );

export const groupNotFound = (groupId: string): AwsError =>
  new AwsError('InvalidGroup.NotFound', `The security group '${groupId}' does not exist`);

export const incorrectState = (): AwsError =>
  new AwsError('IncorrectState', 'The security group is being changed by another request. Try again.');

/** EC2's error for an unknown key. */
export const notValidated = (): AwsError =>
  new AwsError('AuthFailure', 'AWS was not able to validate the provided access credentials', 401);

export const internalError = (): AwsError =>
  new AwsError('InternalError', 'An internal error has occurred', 500);

export const requestLimitExceeded = (): AwsError =>
  new AwsError('RequestLimitExceeded', 'Request limit exceeded.', 503);

/** AWS reports a successful dry run as an error. */
export const dryRunSucceeded = (): AwsError =>
  new AwsError('DryRunOperation', 'Request would have succeeded, but DryRun flag is set.', 412);
