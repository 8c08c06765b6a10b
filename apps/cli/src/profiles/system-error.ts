/** The code of an error of the system, such as ENOENT; empty for anything else. */
export const systemCode = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : '';

export const isMissing = (error: unknown): boolean => systemCode(error) === 'ENOENT';
