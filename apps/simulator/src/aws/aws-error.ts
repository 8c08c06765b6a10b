import { CloudError } from '../cloud-error';

export const awsError = (code: string, message: string, status = 400): CloudError =>
  new CloudError(status, code, message);

export const invalidValue = (message: string): CloudError => awsError('InvalidParameterValue', message);

export const missingParameter = (name: string): CloudError =>
  awsError('MissingParameter', `The request must contain the parameter ${name}`);

export const ruleLimitExceeded = (): CloudError =>
  awsError(
    'RulesPerSecurityGroupLimitExceeded',
    'The maximum number of rules per security group has been reached.',
  );

export const groupNotFound = (groupId: string): CloudError =>
  awsError('InvalidGroup.NotFound', `The security group '${groupId}' does not exist`);

export const incorrectState = (): CloudError =>
  awsError('IncorrectState', 'The security group is being changed by another request. Try again.');

/** EC2's error for an unknown key. */
export const notValidated = (): CloudError =>
  awsError('AuthFailure', 'AWS was not able to validate the provided access credentials', 401);

export const internalError = (): CloudError =>
  awsError('InternalError', 'An internal error has occurred', 500);

export const requestLimitExceeded = (): CloudError =>
  awsError('RequestLimitExceeded', 'Request limit exceeded.', 503);

/** AWS reports a successful dry run as an error. */
export const dryRunSucceeded = (): CloudError =>
  awsError('DryRunOperation', 'Request would have succeeded, but DryRun flag is set.', 412);

export const unauthenticated = (): CloudError =>
  awsError('MissingAuthenticationToken', 'Request is missing Authentication Token', 403);

export const incompleteSignature = (): CloudError =>
  awsError('IncompleteSignature', 'The request signature does not conform to AWS standards');
