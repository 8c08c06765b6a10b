/** The response to a key that lacks a scope. */
export const lacksScope = (scope: string): object => ({
  status: 403,
  body: {
    error: 'Insufficient permissions',
    message: `API key does not have required scope: ${scope}`,
  },
});
