/** Default descriptions of error statuses. */
export const ERROR_DESCRIPTIONS: Readonly<Record<number, string>> = {
  400: 'The request is malformed, a field is wrong, or a rule of the service forbids it',
  401: 'No credential was sent, or it is invalid, expired or revoked',
  403: 'The caller may not do this',
  404: 'There is no such object in the caller’s organization',
  405: 'The path does not support this method',
  409: 'The request conflicts with the current state',
  413: 'The body is larger than 100 kB',
  415: 'The body is not application/json',
  422: 'The request is well-formed, but cannot be carried out',
  429: 'Too many requests from this address',
  500: 'An unexpected error occurred',
  503: 'The service is temporarily unavailable',
};
